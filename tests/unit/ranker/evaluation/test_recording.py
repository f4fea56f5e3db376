"""Evidence passes unchanged and is kept for a look; a segment that is given takes the place of the log's."""

from __future__ import annotations

from typing import Any

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.evaluation.recording import RecordingLookup

EVIDENCE = ClickEvidence({"d": 1.0}, frequency=3, segment="TAIL")
SETTINGS = ClickSettings(m=7)


class GivenClicks:
    """Always knows the same, and notes how it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = SETTINGS,
        leave_one_out: bool = False,
    ) -> ClickEvidence:
        self.asked.append(
            {
                "index": index,
                "text": text,
                "budget_s": budget_s,
                "settings": settings,
                "left_out": leave_one_out,
            }
        )
        return EVIDENCE


def test_what_was_asked_and_found_goes_through() -> None:
    clicks = GivenClicks()
    recording = RecordingLookup(clicks)
    found = recording.lookup("trials", "Stroke?", budget_s=2.0, settings=SETTINGS, leave_one_out=True)
    assert found is EVIDENCE
    assert clicks.asked == [
        {"index": "trials", "text": "Stroke?", "budget_s": 2.0, "settings": SETTINGS, "left_out": True}
    ]
    assert recording.evidence(" stroke") is EVIDENCE
    assert recording.evidence("gout").scores == {}  # it wasn't looked up


def test_a_segment_that_is_given() -> None:
    recording = RecordingLookup(GivenClicks(), {"stroke": "HEAD"})
    assert recording.lookup("trials", "STROKE").segment == "HEAD"
    assert recording.evidence("stroke").frequency == 3
    assert recording.lookup("trials", "gout").segment == "TAIL"
