"""Click evidence: the documents that were clicked for a query and for past queries like it.

    store = ClickStore(redis, client)
    evidence = store.lookup("trials", "stroke in adults", vector, space=encoder.space, budget_s=0.3)

A document's score is Σ_i w_i · weight(q_i, d) over the past queries q_i nearest to the query, itself among
them: w is the softmax of their similarities (`weights`), and `ClickSettings` says what a clicked
document is worth to its query.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opensearchpy import OpenSearch
from redis.exceptions import RedisError

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.evidence import ClickEvidence, Clicks
from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.names import DocumentNames
from trifuse.ranker.clicks.past_queries import MAX_QUERY_CHARS, normalize_query, query_id
from trifuse.ranker.clicks.reads import bounded, read_clicks, read_names
from trifuse.ranker.clicks.settings import ClickSettings, segment_of
from trifuse.ranker.clicks.similar import Near, NoSimilar, QueryFields, find_similar, search_along
from trifuse.ranker.values import MAX_HITS

_MOST = 2.0**53
"""Of clicks: beyond it a float doesn't count exactly, and infinity counts nothing."""


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
        self._fields = QueryFields(client)

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
        similar: Mapping[str, Any] | None = None,
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
            similar: the answer to `similar_search`, where it went along with other searches.
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
        near = self._near(index, vector, space, settings, budget_s, leave_one_out=leave_one_out)
        reason = None
        if near is None and settings.m > 0:
            reason = "the query has no vector: only the same query was looked up"
        try:
            if near is not None:
                left_s = budget_s / 2 - (time.monotonic() - start)
                found = find_similar(self._client, near, left_s, answer=similar)
        except NoSimilar as error:
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

    def similar_search(
        self,
        index: str,
        vector: Vectors | None,
        *,
        space: EncoderSpace | None,
        budget_s: float,
        settings: ClickSettings,
        leave_one_out: bool,
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Header and body of the search for past queries, for `_msearch`: its answer spares `lookup` its own.

        Returns:
            None where there is no vector to search by, no past query is wanted, or the waits for Redis can't
            be bounded: then `lookup` belongs into a thread. Arguments are `lookup`'s.
        """
        if self._within(budget_s / 6) is self._redis:
            return None
        near = self._near(index, vector, space, settings, budget_s, leave_one_out=leave_one_out)
        return None if near is None else search_along(near, budget_s / 2)

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

    def _near(
        self,
        index: str,
        vector: Vectors | None,
        space: EncoderSpace | None,
        settings: ClickSettings,
        budget_s: float,
        *,
        leave_one_out: bool,
    ) -> Near | None:
        """The search for as many past queries as m need; None without a vector, or where m is 0."""
        if vector is None or space is None or settings.m == 0:
            return None
        needed = math.ceil((settings.m + leave_one_out) / settings.log_share)
        field = self._fields.field(index, space, budget_s / 4)
        return Near(index, vector, space, min(needed, MAX_HITS), field)

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
