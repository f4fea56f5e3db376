"""Which of the evaluated queries the click log has itself: their own clicks would flatter the clicks' leg."""

from __future__ import annotations

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicks import ClickEvidence, normalize_query
from trifuse.ranker.types import ClickLookup


class NotingLookup:
    """Passes lookups on, and notes the queries that have clicks of their own.

    Args:
        clicks: where the evidence comes from.
    """

    def __init__(self, clicks: ClickLookup) -> None:
        self._clicks = clicks
        self.own: set[str] = set()
        """The normal forms of queries whose own clicks were found."""

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
    ) -> ClickEvidence:
        """The evidence, unchanged."""
        evidence = self._clicks.lookup(index, text, vector, space=space, budget_s=budget_s)
        normalized = normalize_query(text)
        if any(query.text == normalized for query in evidence.queries):
            self.own.add(normalized)
        return evidence
