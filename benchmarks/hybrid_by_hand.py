"""OpenSearch's own hybrid search as one writes it by hand: the peer of our two executions.

https://docs.opensearch.org/latest/vector-search/ai-search/hybrid-search/index/
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opensearchpy import OpenSearch
from trials_bodies import PLAIN

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.types import Encoder

SOURCE = ("nct_id", "brief_title", "conditions", "overall_status")
"""What a page of results shows."""

SIZE = 10
DEPTH = 100
PIPELINE: dict[str, Any] = {
    "phase_results_processors": [
        {
            "normalization-processor": {
                "normalization": {"technique": "min_max"},
                "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [0.5, 0.5]}},
            }
        }
    ]
}


class HybridByHand:
    """Searches with a pipeline that is stored in the cluster."""

    def __init__(self, client: OpenSearch, encoder: Encoder, index: str, pipeline: str) -> None:
        self._client = client
        self._encoder = encoder
        self._index = index
        self._pipeline = pipeline

    def search(self, text: str) -> Mapping[str, Any]:
        """The first page."""
        vector = self._encoder.encode_queries([text])[0].tolist()
        queries = [
            {"multi_match": {**PLAIN["query"]["multi_match"], "query": text}},
            {"knn": {VECTOR_FIELD: {"vector": vector, "k": DEPTH}}},
        ]
        body = {
            "size": SIZE,
            "_source": list(SOURCE),
            "query": {"hybrid": {"queries": queries, "pagination_depth": DEPTH}},
        }
        answer: Mapping[str, Any] = self._client.search(
            index=self._index, body=body, params={"search_pipeline": self._pipeline}
        )
        return answer


@contextmanager
def stored_pipeline(client: OpenSearch) -> Iterator[str]:
    """The name that the pipeline is stored by, for as long as it is needed."""
    name = f"by-hand-{uuid.uuid4().hex[:8]}"
    client.search_pipeline.put(id=name, body=PIPELINE)
    try:
        yield name
    finally:
        client.search_pipeline.delete(id=name)
