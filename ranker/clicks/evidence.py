"""Evidence from what past queries were clicked for. Pure: what was read is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.records import DOC_BYTES, Sums, doc_hash, merged
from trifuse.ranker.clicks.settings import TAIL
from trifuse.ranker.clicks.support import query_support
from trifuse.ranker.clicks.weights import (
    Floats,
    best_documents,
    clicked,
    document_scores,
    document_weights,
    softmax,
    worth,
)

State = Literal["ok", "partial", "neutral"]

POOL = 2
"""With support, so many times `candidates` of the documents that are best without it may be among them."""


class SimilarQuery(NamedTuple):
    """A past query that gave evidence.

    Args:
        text: its normal form.
        similarity: cosine or inner product of its vector and the query's.
        weight: its share in the scores; the weights of one lookup sum to 1, less what goes to doubt.
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
        segment: the segment of that frequency (`settings.segment_of`).
        clicks: what the scores were made from; None where there is nothing.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    queries: tuple[SimilarQuery, ...] = ()
    state: State = "ok"
    reason: str | None = None
    took_ms: float = 0.0
    frequency: int = 0
    segment: str = TAIL
    clicks: Clicks | None = field(default=None, repr=False, compare=False)

    def supported(self, found: Mapping[str, float]) -> ClickEvidence:
        """The same clicks, where past queries count more whose documents the other legs find, too.

        Args:
            found: document id to what the other legs give it together, in [0, 1] (`support`).
        """
        if self.clicks is None or not found or self.clicks.lookup.settings.support == 0:
            return self
        shares = self.clicks.shares(self.clicks.support(found))
        return replace(self, scores=self.clicks.scores(shares), queries=self.clicks.queries(shares))


@dataclass(frozen=True, eq=False)
class Clicks:
    """What past queries were clicked for.

    Args:
        past: those that have clicks worth something.
        sums: (n,) rows that are; `sums.query` are positions in `past`.
        weights: (n,) what each row's document is worth to its query.
        names: position in `sums.docs` to id, of the documents that may come out.
    """

    lookup: Lookup
    past: Sequence[PastQuery]
    sums: Sums
    weights: Floats
    names: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        lookup: Lookup,
        past: Sequence[PastQuery],
        strings: Sequence[bytes | None],
        *,
        half_life_days: float,
    ) -> Clicks:
        """Add up what is kept of past queries: their records, None where there are none (see `merged`).

        A query's clicks are taken as of its newest record: that it was asked long ago makes its old clicks no
        less than they were to one another, nor less sure.
        """
        settings = lookup.settings
        sums = clicked(merged(strings, None, half_life_days))
        weights = document_weights(sums, len(past), settings.weighting, settings.smoothing)
        sums, weights = worth(sums, weights)
        used = np.bincount(sums.query, minlength=len(past)) > 0
        sums = sums._replace(query=(np.cumsum(used) - 1)[sums.query])
        kept = [each for each, has_clicks in zip(past, used.tolist(), strict=True) if has_clicks]
        return cls(lookup, kept, sums, weights)

    def pool(self) -> NDArray[np.int64]:
        """Positions of the documents that may come out, best first: their ids are needed."""
        settings = self.lookup.settings
        most = settings.candidates * (POOL if settings.support > 0 else 1)
        return best_documents(document_scores(self.sums, self.weights, self.shares()), most)

    def hashes(self, places: NDArray[np.int64]) -> list[bytes]:
        """The hashes of the documents at these positions."""
        hashes: list[bytes] = self.sums.docs[places].view(f"V{DOC_BYTES}").tolist()
        return hashes

    def places_of(self, ids: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of some documents were clicked for: their numbers there, their positions in `sums.docs`."""
        documents = self.sums.docs
        hashes = np.frombuffer(b"".join(map(_doc_hash, ids)), documents.dtype)
        places = np.minimum(np.searchsorted(documents, hashes), max(len(documents) - 1, 0))
        known = np.flatnonzero(documents[places] == hashes) if len(documents) else places[:0]
        return known, places[known]

    def named(self, places: NDArray[np.int64], names: Sequence[str | None]) -> Clicks:
        """The same, with the ids of the documents at these positions, where they are known."""
        known = zip(places.tolist(), names, strict=True)
        return replace(self, names={place: name for place, name in known if name is not None})

    def support(self, found: Mapping[str, float]) -> Floats:
        """What the other legs say of each past query: see `query_support`."""
        numbers, places = self.places_of(found)
        values = np.zeros(len(self.sums.docs))
        values[places] = np.fromiter(found.values(), np.float64)[numbers]
        return query_support(values, self.sums.doc, self.sums.query, len(self.past))

    def shares(self, support: Floats | None = None) -> Floats:
        """The share of each past query in the scores.

        Support says which past query, doubt whether one is near: support moves no share to or from doubt.
        """
        settings, similarity = self.lookup.settings, self.lookup.similarity
        similarities = np.array([each.similarity for each in self.past], np.float64)
        temperature = settings.temperature_for(similarity)
        shares = softmax(similarities, temperature, settings.doubt_for(similarity))
        if support is None or not support.any():
            return shares
        supported: Floats = shares.sum() * softmax(similarities + settings.support * support, temperature)
        return supported

    def scores(self, shares: Floats) -> dict[str, float]:
        """The scores of the best documents whose ids are known, best first, ties by id."""
        everything = document_scores(self.sums, self.weights, shares)
        known = np.zeros(len(everything))
        places = np.fromiter(self.names, np.int64)
        known[places] = everything[places]
        best = best_documents(known, self.lookup.settings.candidates)
        names = [self.names[place] for place in best.tolist()]
        return {name: -score for score, name in sorted(zip((-known[best]).tolist(), names, strict=True))}

    def queries(self, shares: Floats) -> tuple[SimilarQuery, ...]:
        """The past queries, most similar first, ties by text."""
        documents = np.bincount(self.sums.query, minlength=len(self.past))
        columns = zip(self.past, shares.tolist(), documents.tolist(), strict=True)
        queries = [
            SimilarQuery(text, similarity, share, clicked_for)
            for (_, text, similarity), share, clicked_for in columns
        ]
        return tuple(sorted(queries, key=_nearest_first))


_doc_hash = lru_cache(2**15)(doc_hash)
"""Of what other legs find, which is much the same documents again and again; about 6 MB."""


def _nearest_first(query: SimilarQuery) -> tuple[float, str]:
    return -query.similarity, query.text
