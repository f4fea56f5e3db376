"""Which events of a click log are meant, as a query to the event index. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from trifuse.ranker.clicks.past_queries import normalize_query, query_id


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Events that fit every kind of condition that is given, and any one of a kind.

    Args:
        queries: what was searched for, as users typed it; its other spellings are the same past query.
        sessions, users: who searched.
        before: seconds since 1970; older events.
    """

    queries: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    before: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no condition is given: it would mean every event."""
        return not (self.queries or self.sessions or self.users or self.before is not None)

    @property
    def of_visitors(self) -> bool:
        """Whether visitors are named, whose searches hold more events than those that name them."""
        return bool(self.sessions or self.users)

    def body(self) -> dict[str, Any]:
        """The query that finds the events."""
        named = [{"terms": {field: list(values)}} for field, values in self._visitors()]
        return {"bool": {"filter": [*named, *self._rest()]}}

    def searches_body(self, query_ids: Sequence[str]) -> dict[str, Any]:
        """The query for what `body` doesn't find of these searches: events that name no other visitor."""
        theirs = [
            {"bool": {"should": [{"terms": {field: list(values)}}, _lacks(field)]}}
            for field, values in self._visitors()
        ]
        searches = {"terms": {"query_id": list(query_ids)}}
        return {"bool": {"filter": [searches, *theirs, *self._rest()], "must_not": [self.body()]}}

    def _visitors(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(field, v) for field, v in (("session", self.sessions), ("user", self.users)) if v]

    def _rest(self) -> list[dict[str, Any]]:
        conditions: list[dict[str, Any]] = []
        if self.queries:
            keys = [query_id(normalize_query(query)) for query in self.queries]
            conditions.append({"terms": {"query_key": keys}})
        if self.before is not None:
            conditions.append({"range": {"timestamp": {"lt": round(self.before * 1000.0)}}})
        return conditions


def _lacks(field: str) -> dict[str, Any]:
    return {"bool": {"must_not": [{"exists": {"field": field}}]}}
