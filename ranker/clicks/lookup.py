"""What is looked up in the click log, and which of the past queries that were found are used. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.clicks.past_queries import query_id
from trifuse.ranker.clicks.settings import ClickSettings


class PastQuery(NamedTuple):
    """A past query that may give evidence, by its id, its normal form, and how similar it is."""

    id: str
    text: str
    similarity: float


@dataclass(frozen=True)
class Lookup:
    """What is looked up, and how.

    Args:
        same: the query itself. Its past query stands in the place of any found by its normal form, and no
            floor keeps it out.
        similarity: what similarities are.
        leave_one_out: as if the query itself were no past query, and had been searched once less.
    """

    same: PastQuery
    similarity: Similarity
    settings: ClickSettings
    leave_one_out: bool = False

    def choose(self, found: Iterable[tuple[str, float]]) -> list[PastQuery]:
        """The m past queries that are used, of those found: normal forms and similarities, nearest first."""
        floor = self.settings.min_similarity
        past = (
            self.same if text == self.same.text else PastQuery(query_id(text), text, value)
            for text, value in found
            if floor is None or value >= floor or text == self.same.text
        )
        return list(islice(filter(self.uses, past), self.settings.m))

    def uses(self, past: PastQuery) -> bool:
        """Whether a past query may give evidence."""
        return self.settings.uses(past.id) and not (self.leave_one_out and past == self.same)
