"""Click evidence as it passes: what a study needs to know of a query beside its ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.types import ClickLookup


class RecordingLookup:
    """Passes lookups on, and keeps what the last one found.

    Args:
        clicks: where the evidence comes from.
        segments: the normal form of a query to its segment, in the place of the one that the log says: for
            queries that are kept out of the log, and whose frequency is known otherwise.
        names: an index to the name that its clicks are kept under, where that is another.
    """

    def __init__(
        self,
        clicks: ClickLookup,
        segments: Mapping[str, str] | None = None,
        *,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self._clicks = clicks
        self._names = names or {}
        self._segments = segments or {}
        self._last = ("", ClickEvidence())

    def evidence(self, text: str) -> ClickEvidence:
        """What was found for the query that was just searched; nothing where it wasn't looked up."""
        normalized, evidence = self._last
        return evidence if normalized == normalize_query(text) else ClickEvidence()

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = ClickSettings(),  # noqa: B008 - frozen
        leave_one_out: bool = False,
    ) -> ClickEvidence:
        """The evidence, with the segment that was given for the query."""
        evidence = self._clicks.lookup(
            self._names.get(index, index),
            text,
            vector,
            space=space,
            budget_s=budget_s,
            settings=settings,
            leave_one_out=leave_one_out,
        )
        normalized = normalize_query(text)
        if normalized in self._segments:
            evidence = replace(evidence, segment=self._segments[normalized])
        self._last = (normalized, evidence)
        return evidence
