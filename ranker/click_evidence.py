"""Evidence from what past queries were clicked for. Pure: what was read is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from trifuse.ranker.click_records import merged
from trifuse.ranker.click_settings import TAIL, ClickSettings, Similarity
from trifuse.ranker.click_weights import best_documents, clicked, document_scores, document_weights, softmax
from trifuse.ranker.past_queries import query_id

State = Literal["ok", "partial", "neutral"]


@dataclass(frozen=True, slots=True)
class SimilarQuery:
    """A past query that gave evidence.

    Args:
        text: its normal form.
        similarity: cosine or inner product of its vector and the query's.
        weight: its share in the scores; the weights of one lookup sum to 1.
        documents: how many documents were clicked for it.
    """

    text: str
    similarity: float
    weight: float
    documents: int = 0


@dataclass(frozen=True)
class ClickEvidence:
    """What the click log says of one query.

    Args:
        scores: document id to score in (0, 1], best first, ties by id; empty where there is no evidence.
        queries: the past queries that it comes from, most similar first, ties by text.
        state: `ok`; `partial` where only the very same query was looked up, or where the click store lost
            the ids of documents; `neutral` where nothing was looked up.
        reason: why the state isn't `ok`, or why the query can't have evidence; else None.
        took_ms: time that the lookup took.
        frequency: how many clicks are counted for the query itself; one less where it is left out.
        segment: the segment of that frequency (`click_settings.segment_of`).
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    queries: tuple[SimilarQuery, ...] = ()
    state: State = "ok"
    reason: str | None = None
    took_ms: float = 0.0
    frequency: int = 0
    segment: str = TAIL


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
        floor = self.settings.floor_for(self.similarity)
        past = (
            self.same if text == self.same.text else PastQuery(query_id(text), text, value)
            for text, value in found
            if value >= floor or text == self.same.text
        )
        return list(islice(filter(self.uses, past), self.settings.m))

    def uses(self, past: PastQuery) -> bool:
        """Whether a past query may give evidence."""
        return self.settings.uses(past.id) and not (self.leave_one_out and past == self.same)


class Gathered(NamedTuple):
    """Evidence, with documents by their hashes, the best first."""

    queries: tuple[SimilarQuery, ...]
    docs: list[bytes]
    scores: list[float]


def gather(
    past: Sequence[PastQuery],
    strings: Sequence[bytes | None],
    lookup: Lookup,
    *,
    now: float,
    half_life_days: float,
) -> Gathered:
    """Score the documents that were clicked for past queries; a query without clicks counts for nothing.

    Args:
        strings: the records of each past query, None where there are none.
        now, half_life_days: see `merged`.
    """
    settings = lookup.settings
    sums = clicked(merged(strings, now, half_life_days))
    documents = np.bincount(sums.query, minlength=len(past))
    used = np.flatnonzero(documents)
    similarities = np.array([each.similarity for each in past], np.float64)
    shares = np.zeros(len(past))
    shares[used] = softmax(similarities[used], settings.temperature_for(lookup.similarity))
    weights = document_weights(sums, len(past), settings.weighting, settings.smoothing)
    scores = document_scores(sums, weights, shares)
    best = best_documents(scores, settings.candidates)
    queries = [
        SimilarQuery(each.text, each.similarity, share, clicked_for)
        for each, share, clicked_for in zip(past, shares.tolist(), documents.tolist(), strict=True)
        if clicked_for
    ]
    queries.sort(key=lambda query: (-query.similarity, query.text))
    return Gathered(tuple(queries), sums.docs[best].view("V8").tolist(), scores[best].tolist())
