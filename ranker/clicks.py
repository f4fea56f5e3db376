"""Click evidence: the documents that were clicked for a query and for past queries like it.

    store = ClickStore(redis, client)
    evidence = store.lookup("trials", "stroke in adults", vector, space=encoder.space, budget_s=0.3)

A document's score is Σ_i w_i · c_i(d) / max_d c_i(d) over the query itself and the m past queries nearest to
it: w is the softmax of their similarities, c_i(d) the decayed count of d's clicks for query i. It is the log
augmentation of LADER (Jin, Shin, Lu 2023: "Log-Augmented DEnse Retrieval for Biomedical Literature Search",
section 2.2) with the share of the clicks in the place of its 0 or 1, a temperature because similarities of
unit vectors lie close together, and a floor under them because the nearest of the past queries may be far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError
from redis.exceptions import RedisError

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.click_evidence import ClickEvidence, SimilarQuery
from trifuse.ranker.click_redis import bounded, merge
from trifuse.ranker.click_settings import ClickSettings, segment_of
from trifuse.ranker.decay import HALF_LIFE_DAYS
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.ranker.past_queries import (
    MAX_QUERY_CHARS,
    normalize_query,
    queries_index,
    query_id,
    similar_queries_body,
    similarity_of,
)

__all__ = ["ClickEvidence", "ClickStore", "SimilarQuery", "normalize_query"]

_COSINE_FLOOR = 0.7
_COSINE_TEMPERATURE = 0.05
_DEPTH = 100


class _NoSimilar(Exception):
    """Similar past queries can't be looked up; the message says why."""


class ClickStore:
    """Reads the click log's aggregates (Redis) and its past queries (OpenSearch). Safe to share by threads.

    Args:
        redis: a client of the click store. Its timeouts don't matter: a lookup's budget bounds every wait.
        client: a client of OpenSearch.
        half_life_days: the half-life that clicks were counted with.
    """

    def __init__(
        self,
        redis: Any,
        client: OpenSearch,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
    ) -> None:
        self._redis = redis
        self._client = client
        self._half_life_days = half_life_days
        self._bounded: dict[float, Any] = {}

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
        """The click evidence for a query; never raises for a service that is down or slow.

        Half of the budget is for OpenSearch (similar past queries), a quarter for reaching Redis and a
        quarter for its answer: a service that doesn't answer within its part is left out.

        Args:
            index: the search index or alias that the clicks belong to.
            vector: (dim,) float32 of the query, or None; without one only the same query is looked up.
            space: the space of the vector's encoder: only past queries of the same space are compared.
            settings: how the log is read.
            leave_one_out: as if the query itself had been searched once less, and clicked for never.
        """
        start = time.monotonic()
        normalized = normalize_query(text[: 2 * MAX_QUERY_CHARS])
        if not normalized or len(normalized) > MAX_QUERY_CHARS:
            why = (
                "the query is empty" if not normalized else f"the query is over {MAX_QUERY_CHARS} characters"
            )
            return ClickEvidence(reason=why, took_ms=_ms(start))
        same = (normalized, _self_similarity(vector, space))
        reason = None
        similar: list[tuple[str, float]] = []
        try:
            similar = self._similar(index, vector, space, settings, budget_s / 2)
        except _NoSimilar as error:
            reason = str(error)
        own = [] if leave_one_out else [same]
        queries = [*own, *(query for query in similar if query[0] != normalized)]
        weights = softmax([similarity for _, similarity in queries], _temperature_in(space, settings))
        keys = [clicks_key(index, self._half_life_days, query_id(query)) for query, _ in queries]
        try:
            redis = self._within(budget_s / 4)
            key = queries_key(index, self._half_life_days)
            frequency = int(redis.zscore(key, query_id(normalized)) or 0)
            sizes, sums = (
                merge(redis, keys, weights, keep=settings.candidates, depth=_DEPTH) if keys else ([], {})
            )
        except (RedisError, OSError) as error:
            why = f"the click store didn't answer: {error or type(error).__name__}"
            return ClickEvidence(state="neutral", reason=why, took_ms=_ms(start))
        frequency = max(0, frequency - leave_one_out)
        total = sum(weight for weight, size in zip(weights, sizes, strict=True) if size) or 1.0
        found = [
            SimilarQuery(query, similarity, weight / total, size)
            for (query, similarity), weight, size in zip(queries, weights, sizes, strict=True)
            if size
        ]
        return ClickEvidence(
            scores={doc: score / total for doc, score in sums.items()},
            queries=tuple(sorted(found, key=lambda query: (-query.weight, query.text))),
            state="partial" if reason else "ok",
            reason=reason,
            took_ms=_ms(start),
            frequency=frequency,
            segment=segment_of(frequency),
        )

    def _similar(
        self,
        index: str,
        vector: Vectors | None,
        space: EncoderSpace | None,
        settings: ClickSettings,
        timeout_s: float,
    ) -> list[tuple[str, float]]:
        """Normal forms and similarities of the m nearest past queries above the floor, nearest first."""
        if vector is None or space is None:
            raise _NoSimilar("the query has no vector: only the same query was looked up")
        if settings.m == 0:
            return []
        # One attempt: the client's transport would try again, and the budget would be spent several times.
        connection = self._client.transport.get_connection()
        try:
            _, _, answer = connection.perform_request(
                "POST",
                f"/{quote(queries_index(index), safe='')}/_search",
                body=msgspec.json.encode(similar_queries_body(vector, space, settings.m)),
                headers={"content-type": "application/json"},
                timeout=timeout_s,
            )
        except TransportError as error:
            if error.status_code == 404:
                raise _NoSimilar(f"no past queries yet: there is no index {queries_index(index)!r}") from None
            raise _NoSimilar(
                f"similar past queries weren't found: {error.status_code} {error.error}"
            ) from error
        try:
            found = [
                (hit["fields"]["normalized"][0], similarity_of(hit["_score"], space.similarity))
                for hit in msgspec.json.decode(answer)["hits"]["hits"]
            ]
        except (msgspec.DecodeError, LookupError, TypeError) as error:
            raise _NoSimilar("similar past queries weren't found: the answer is no search's") from error
        floor = settings.min_similarity
        if floor is None:
            floor = _COSINE_FLOOR if space.similarity == "cosine" else -math.inf
        return [(query, similarity) for query, similarity in found if similarity >= floor]

    def _within(self, timeout_s: float) -> Any:
        """A client with that timeout, made once; a profile has one budget, so there are few."""
        if timeout_s not in self._bounded:
            self._bounded[timeout_s] = bounded(self._redis, timeout_s)
        return self._bounded[timeout_s]


def _temperature_in(space: EncoderSpace | None, settings: ClickSettings) -> float:
    if settings.temperature is not None:
        return settings.temperature
    return 1.0 if space is not None and space.similarity == "dot" else _COSINE_TEMPERATURE


def softmax(values: Sequence[float], temperature: float) -> list[float]:
    """exp(v / temperature), scaled to sum to 1."""
    top = max(values, default=0.0)
    powers = [math.exp((value - top) / temperature) for value in values]
    total = sum(powers)
    return [power / total for power in powers]


def _self_similarity(vector: Vectors | None, space: EncoderSpace | None) -> float:
    if vector is None or space is None or space.similarity == "cosine":
        return 1.0
    return float(vector @ vector)


def _ms(start: float) -> float:
    return (time.monotonic() - start) * 1000.0
