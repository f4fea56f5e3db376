"""Click evidence: the documents that were clicked for a query and for past queries like it.

    store = ClickStore(redis, client)
    evidence = store.lookup("trials", "stroke in adults", vector, space=encoder.space, budget_s=0.3)

A document's score is Σ_i w_i · weight(q_i, d) over the past queries q_i nearest to the query, itself among
them: w is the softmax of their similarities (`click_weights`), and `ClickSettings` says what a clicked
document is worth to its query.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError
from redis.exceptions import RedisError

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.click_evidence import ClickEvidence, Clicks, SimilarQuery
from trifuse.ranker.click_lookup import Lookup, PastQuery
from trifuse.ranker.click_names import DocumentNames
from trifuse.ranker.click_redis import bounded, read_clicks, read_names
from trifuse.ranker.click_settings import MAX_CANDIDATES, ClickSettings, segment_of
from trifuse.ranker.decay import HALF_LIFE_DAYS
from trifuse.ranker.past_queries import (
    MAX_QUERY_CHARS,
    FoundQueries,
    normalize_query,
    queries_index,
    query_id,
    read_similar_queries,
    similar_queries_body,
)

__all__ = ["ClickEvidence", "ClickStore", "SimilarQuery", "normalize_query"]


_MOST = 2.0**53
"""Of clicks: beyond it a float doesn't count exactly, and infinity counts nothing."""


_LEAST_S = 0.001
"""Of a timeout: the client takes none of 0 and less."""


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
        self._names = DocumentNames()

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

        Half of the budget is for OpenSearch (similar past queries), and a sixth each for reaching Redis, for
        its records, and for ids of documents: a service that doesn't answer within its part is left out.

        Args:
            index: the search index or alias that the clicks belong to.
            vector: (dim,) float32 of the query, or None; without one only the same query is looked up.
            space: the space of the vector's encoder: only past queries of the same space are compared.
            settings: how the log is read.
            leave_one_out: as if the query itself were no past query, and had been searched once less.
        """
        start = time.monotonic()
        normalized = normalize_query(text[: 2 * MAX_QUERY_CHARS])
        if not normalized or len(normalized) > MAX_QUERY_CHARS:
            why = (
                "the query is empty" if not normalized else f"the query is over {MAX_QUERY_CHARS} characters"
            )
            return ClickEvidence(reason=why, took_ms=_ms(start))
        lookup = Lookup(
            same=PastQuery(query_id(normalized), normalized, _self_similarity(vector, space)),
            similarity=space.similarity if space is not None else "cosine",
            settings=settings,
            leave_one_out=leave_one_out,
        )
        found: list[tuple[str, float]] = []
        reason = None
        try:
            found = self._similar(index, vector, space, lookup, budget_s / 2)
        except _NoSimilar as error:
            reason = str(error)
        try:
            evidence = self._read(self._within(budget_s / 6), index, lookup.choose(found), lookup)
        except (RedisError, OSError) as error:
            why = f"the click store didn't answer: {error or type(error).__name__}"
            return ClickEvidence(state="neutral", reason=why, took_ms=_ms(start))
        reasons = "; ".join(filter(None, (reason, evidence.reason)))
        return replace(
            evidence,
            state="partial" if reasons else "ok",
            reason=reasons or None,
            took_ms=_ms(start),
        )

    def _similar(
        self,
        index: str,
        vector: Vectors | None,
        space: EncoderSpace | None,
        lookup: Lookup,
        timeout_s: float,
    ) -> list[tuple[str, float]]:
        """Normal forms and similarities of as many past queries as m need, nearest first."""
        if vector is None or space is None:
            raise _NoSimilar("the query has no vector: only the same query was looked up")
        if lookup.settings.m == 0:
            return []
        deadline = time.monotonic() + timeout_s
        needed = math.ceil((lookup.settings.m + lookup.leave_one_out) / lookup.settings.log_share)
        found = FoundQueries([], complete=False)
        for filtered in (False, True):
            body = similar_queries_body(vector, space, min(needed, MAX_CANDIDATES), filtered=filtered)
            answer = self._search(queries_index(index), body, deadline - time.monotonic())
            try:
                found = read_similar_queries(answer, space)
            except msgspec.DecodeError as error:
                raise _NoSimilar("similar past queries weren't found: the answer is no search's") from error
            if found.complete:
                break
        return found.texts

    def _search(self, name: str, body: Mapping[str, Any], timeout_s: float) -> bytes:
        """What OpenSearch answers, asked once: the client would try again, and the budget be spent twice."""
        connection = self._client.transport.get_connection()
        try:
            _, _, answer = connection.perform_request(
                "POST",
                f"/{quote(name, safe='')}/_search",
                body=msgspec.json.encode(body),
                headers={"content-type": "application/json"},
                timeout=max(timeout_s, _LEAST_S),
            )
        except TransportError as error:
            if error.status_code == 404:
                raise _NoSimilar(f"no past queries yet: there is no index {name!r}") from None
            raise _NoSimilar(
                f"similar past queries weren't found: {error.status_code} {error.error}"
            ) from error
        found: bytes = answer
        return found

    def _read(self, redis: Any, index: str, past: list[PastQuery], lookup: Lookup) -> ClickEvidence:
        """The evidence of past queries, and of the same query where it is public and waits for its vector."""
        same = lookup.same
        waits = same not in past and lookup.uses(same)
        asked = [same, *past] if waits else past
        strings, counted = read_clicks(
            redis, index, self._half_life_days, [each.id for each in asked], same.id
        )
        first = int(waits and counted is None)
        used = slice(first, first + max(lookup.settings.m, 1))
        clicks = Clicks.read(lookup, asked[used], strings[used], half_life_days=self._half_life_days)
        pool = clicks.pool()
        names = self._names.ids(
            clicks.hashes(pool), lambda docs: read_names(redis, index, self._half_life_days, docs)
        )
        lost = names.count(None)
        clicks = clicks.named(pool, names)
        shares = clicks.shares()
        frequency = max(0, int(max(0.0, min(counted or 0.0, _MOST))) - lookup.leave_one_out)
        return ClickEvidence(
            scores=clicks.scores(shares),
            queries=clicks.queries(shares),
            reason=f"the click store lost the ids of {lost} documents: rebuild it" if lost else None,
            frequency=frequency,
            segment=segment_of(frequency),
            clicks=clicks,
        )

    def _within(self, timeout_s: float) -> Any:
        """A client with that timeout, made once; a profile has one budget, so there are few."""
        if timeout_s not in self._bounded:
            self._bounded[timeout_s] = bounded(self._redis, timeout_s)
        return self._bounded[timeout_s]


def _self_similarity(vector: Vectors | None, space: EncoderSpace | None) -> float:
    if vector is None or space is None or space.similarity == "cosine":
        return 1.0
    return float(vector @ vector)


def _ms(start: float) -> float:
    return (time.monotonic() - start) * 1000.0
