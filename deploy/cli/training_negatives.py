"""Hard negatives: what BM25 ranks high for a query, in an index of ours, and nobody found relevant."""

from __future__ import annotations

import random
import sys
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from opensearchpy import OpenSearch

from trifuse.deploy.cli.training_corpus import CorpusDocument
from trifuse.deploy.errors import UnreadableCorpus
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import stream_bulk
from trifuse.indexer.mapping import index_body
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.evaluation import rank_all

DEPTH = 100
"""How deep BM25's ranking is looked at."""

KEPT = 20
"""Negatives kept of a query: drawn from those, so that the hardest few, often unjudged, don't repeat."""

_LEXICAL = Profile(name="bm25", weights={"lexical": 1.0})
_TOGETHER = 500
_TEXT = {"type": "text", "analyzer": "english"}


def mined_negatives(
    client: OpenSearch,
    index: str,
    queries: Mapping[str, str],
    relevant: Mapping[str, Collection[str]],
    *,
    seed: int,
    progress: Callable[[], None] | None = None,
) -> dict[str, Sequence[str]]:
    """For each query, up to 20 documents of BM25's first 100 that aren't relevant to it.

    Args:
        index: an index, or an alias; its ids are those of the judgements.
        queries: id to text.
        relevant: query id to the documents that are left out.
        seed: of the draw: the same index and seed give the same negatives.
        progress: called after each query.
    """
    ranker = HybridRanker(client, None, None)
    found: dict[str, Sequence[str]] = {}
    for some in _parts(queries):
        ranked = rank_all(ranker, index, some, profile=_LEXICAL, depth=DEPTH, progress=progress)
        for query, documents in ranked.documents.items():
            wrong = [sys.intern(each) for each in documents if each not in relevant.get(query, ())]
            chance = random.Random(f"{seed}:{query}")  # noqa: S311
            found[query] = tuple(chance.sample(wrong, min(KEPT, len(wrong))))
    return found


def _parts(queries: Mapping[str, str]) -> Iterator[dict[str, str]]:
    rest = iter(queries.items())
    while part := dict(islice(rest, _TOGETHER)):
        yield part


@contextmanager
def temporary_index(client: OpenSearch, documents: Iterable[CorpusDocument]) -> Iterator[str]:
    """An index of a collection, for BM25 alone; it is deleted afterwards.

    Raises:
        UnreadableCorpus: OpenSearch refuses a document.
    """
    index = f"trifuse-training-{uuid.uuid4().hex[:12]}"
    client.indices.create(index=index, body=index_body({"title": _TEXT, "text": _TEXT}))
    try:
        actions = (
            Action(op="create", index=index, id=each.id, source={"title": each.title, "text": each.text})
            for each in documents
        )
        for item in stream_bulk(client, actions):
            if not item.ok:
                raise UnreadableCorpus(
                    f"document {item.position + 1} of the collection can't be indexed: {item.reason}"
                )
        client.indices.refresh(index=index)
        yield index
    finally:
        client.indices.delete(index=index)
