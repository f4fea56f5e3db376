"""Queries that the click log has itself are noted; what the log says isn't touched."""

from __future__ import annotations

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker import ClickEvidence
from trifuse.ranker.clicks import SimilarQuery
from trifuse.ranker.evaluation.overlap import NotingLookup

EVIDENCE = ClickEvidence(
    {"d": 1.0}, (SimilarQuery("stroke", 1.0, 0.7), SimilarQuery("stroke in adults", 0.8, 0.3))
)


class GivenClicks:
    """Always knows the same."""

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
    ) -> ClickEvidence:
        return EVIDENCE


def test_a_query_of_the_log_is_noted_once_whatever_its_spelling() -> None:
    noting = NotingLookup(GivenClicks())
    assert noting.lookup("trials", "aphasia") is EVIDENCE
    assert noting.own == set()
    noting.lookup("trials", " Stroke? ")
    noting.lookup("trials", "stroke")
    assert noting.own == {"stroke"}
