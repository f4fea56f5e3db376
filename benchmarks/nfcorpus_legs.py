"""NFCorpus's documents as BM25 and the vectors rank them, before any log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from log_tuning import Floats
from opensearchpy import OpenSearch

from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.ranker.evaluation import Queries
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.legs import text_query

DEPTH = 100
"""Of each leg: that of the default profile."""

BATCH = 100


def lexical_hits(
    client: OpenSearch, index: str, documents: Queries, queries: Queries
) -> list[list[tuple[int, float]]]:
    """Positions and BM25 scores of each query's best documents, as the ranker's lexical leg finds them."""
    body = {"mappings": {"properties": {"text": {"type": "text", "analyzer": "english"}}}}
    client.indices.create(index=index, body={"settings": {"number_of_replicas": 0}, **body})
    actions = (Action(op="create", index=index, id=each, source={"text": t}) for each, t in documents.items())
    refused = [item for item in bulk(client, actions).items if not item.ok]
    if refused:
        raise SystemExit(f"{len(refused)} documents were refused: {refused[0].reason}")
    client.indices.refresh(index=index)
    places = {document: place for place, document in enumerate(documents)}
    texts = list(queries.values())
    hits = []
    for start in range(0, len(texts), BATCH):
        lines: list[dict[str, Any]] = []
        for text in texts[start : start + BATCH]:
            lines += [{}, {"query": text_query(text, ["text"]), "size": DEPTH, "_source": False}]
        answers = client.msearch(body=lines, index=index)["responses"]
        found = ([(places[h["_id"]], h["_score"]) for h in each["hits"]["hits"]] for each in answers)
        hits.extend(found)
    return hits


def mean_of_legs(lexical: Sequence[tuple[int, float]], cosines: Floats, depth: int = DEPTH) -> Floats:
    """h of each document: half of each leg's min_max among its best hits."""
    found = np.zeros(len(cosines))
    if lexical:
        places, scores = zip(*lexical, strict=True)
        found[list(places)] = min_max(np.array(scores, np.float64)) / 2
    near = np.argsort(-cosines, kind="stable")[:depth]
    found[near] += min_max(cosines[near]) / 2
    return found
