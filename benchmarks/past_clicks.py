"""Many past queries and their clicks, made up around real queries: for measurements of time and memory.

Their vectors are synthetic: each is a real query's, turned to a random side until its cosine to that one is
between 0.6 and 0.98, so that they stand in clusters as the queries of a log do. What was clicked for one are
documents among those nearest to its real query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import text_hash
from trifuse.encoder.types import Vectors
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import stream_bulk
from trifuse.ranker.clicks.past_queries import normalize_query, queries_index, query_id, query_space
from trifuse.worker.clicks.indexes import queries_body

CLOSENESS = (0.6, 0.98)
NEAR = 50
"""Documents that are clicked for a query are among so many nearest to it."""

_MERGE_S = 1800.0


@dataclass(frozen=True)
class PastClicks:
    """Past queries, and which documents were clicked for each.

    Args:
        vectors: (n, dim) float32, unit norm.
        documents: (n, clicked) positions of documents, those of one query all different.
    """

    vectors: Vectors
    documents: NDArray[np.int64]

    @staticmethod
    def text(number: int) -> str:
        """What the past query of that number is called."""
        return f"past query {number}"

    @classmethod
    def id(cls, number: int) -> str:
        """Its id."""
        return query_id(normalize_query(cls.text(number)))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every pair of a query and a document that was clicked for it, in an order by chance."""
        queries, clicked = self.documents.shape
        for pair in np.random.default_rng(1).permutation(queries * clicked).tolist():
            query, place = divmod(pair, clicked)
            yield query, int(self.documents[query, place])


def past_clicks(
    queries: Vectors, documents: Vectors, count: int, clicked: int, *, seed: int = 0
) -> PastClicks:
    """So many past queries around real ones, each with so many clicked documents.

    Args:
        queries, documents: (n, dim) float32, unit norm, of real texts.
    """
    rng = np.random.default_rng(seed)
    centre = np.arange(count) % len(queries)
    cosine = rng.uniform(*CLOSENESS, size=(count, 1)).astype(np.float32)
    near = queries[centre]
    side = rng.standard_normal(near.shape, dtype=np.float32)
    side -= (side * near).sum(axis=1, keepdims=True) * near
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    nearest = np.argsort(-(queries @ documents.T), axis=1)[:, : max(NEAR, clicked)]
    chosen = rng.random((count, nearest.shape[1])).argsort(axis=1)[:, :clicked]
    return PastClicks(
        vectors=cosine * near + np.sqrt(1 - cosine**2) * side,
        documents=np.take_along_axis(nearest[centre], chosen, axis=1),
    )


def write_past_queries(client: OpenSearch, index: str, space: EncoderSpace, past: PastClicks) -> None:
    """Make the index of past queries, as intake and `trifuse sync --wait` leave it: of one segment."""
    name = queries_index(index)
    client.indices.create(index=name, body=queries_body(query_space(space)))
    refused = [item for item in stream_bulk(client, _actions(name, space, past)) if not item.ok]
    if refused:
        raise SystemExit(f"{len(refused)} past queries were refused: {refused[0].reason}")
    merging = {"max_num_segments": 1, "request_timeout": _MERGE_S}
    client.indices.forcemerge(index=name, params=merging)
    client.indices.refresh(index=name)


def _actions(name: str, space: EncoderSpace, past: PastClicks) -> Iterator[Action]:
    frequency = past.documents.shape[1]
    field = query_space(space).id
    for number, vector in enumerate(past.vectors.round(4)):
        text = past.text(number)
        source = {
            "text": text,
            "normalized": normalize_query(text),
            "frequency": frequency,
            "last_seen": 0,
            VECTOR_FIELD: vector,
            **mark(VECTOR_FIELD, field, text_hash(text)),
        }
        yield Action(op="create", index=name, id=past.id(number), source=source)


def clicked_ids(documents: Sequence[str], past: PastClicks) -> Iterator[tuple[str, str]]:
    """Every pair as ids of a past query and of a document."""
    for query, document in past.pairs():
        yield past.id(query), documents[document]
