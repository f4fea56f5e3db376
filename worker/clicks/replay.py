"""The state of one past query, made from its events in the order of their coming. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.clicks.records import compacted
from trifuse.ranker.keys import DAY_S, SEEN_LIFETIME_S
from trifuse.worker.clicks.caps import Caps
from trifuse.worker.clicks.items import Item, items_of
from trifuse.worker.clicks.packing import records_of
from trifuse.worker.clicks.past import PastQuery
from trifuse.worker.clicks.store import StoredEvent

_AT_ONCE = 10_000
"""Items whose records are added up together: memory doesn't grow with the events."""

_ALL = 2**31


class Rules(msgspec.Struct, frozen=True):
    """By what events are counted.

    Args:
        curve: clicks expected at each rank.
        caps: where visitors reached their daily cap.
    """

    half_life_days: float
    min_visitors: int
    max_docs: int
    curve: Sequence[float]
    caps: Caps


class Replay:
    """What incremental counting makes of a query's events, one after the other.

    Attributes:
        past: the query's document, with how often it was clicked for; None before the first click.
        strangers: clicks of visitors that the log doesn't know.
        visitors: who clicked for it, of those that it knows.
        docs: the ids of the documents that were clicked.
    """

    def __init__(self, rules: Rules) -> None:
        self.past: PastQuery | None = None
        self.strangers = 0
        self.visitors: set[str] = set()
        self.docs: set[str] = set()
        self._rules = rules
        self._once = _Once()
        self._items: list[Item] = []
        self._records = b""

    @property
    def clicks(self) -> int:
        """How often it was clicked for."""
        return self.past.frequency if self.past else 0

    @property
    def public(self) -> bool:
        """Whether enough visitors clicked for it."""
        return self.strangers + len(self.visitors) >= self._rules.min_visitors

    def add(self, event: StoredEvent) -> list[Item]:
        """Count an event; what of it counts."""
        if event.kind == "click":
            past = PastQuery(
                id=event.query_key,
                text=event.query,
                normalized=normalize_query(event.query),
                frequency=0,
                last_seen=event.timestamp,
            )
            self.past = past.merged(self.past.source()) if self.past else past
        counting = [
            item
            for item in items_of(event, self._rules.curve)
            if self._rules.caps.allows(event, item) and self._once.is_new(item, event.received)
        ]
        for item in counting:
            self._count(item)
        return counting

    def records(self) -> bytes:
        """Its records, one a document, the best of them."""
        self._add_up()
        return compacted(self._records, self._rules.half_life_days, self._rules.max_docs)

    def _count(self, item: Item) -> None:
        self._items.append(item)
        if item.clicks and self.past is not None:
            self.past = msgspec.structs.replace(self.past, frequency=self.past.frequency + item.clicks)
            self.docs.add(item.docs[0])
            if item.visitor is None:
                self.strangers += item.clicks
            else:
                self.visitors.add(item.visitor)
        if len(self._items) >= _AT_ONCE:
            self._add_up()

    def _add_up(self) -> None:
        if self._items:
            data = self._records + records_of(self._items)
            self._records = compacted(data, self._rules.half_life_days, _ALL)
            self._items = []


class _Once:
    """What visitors did on each day, as long as incremental counting remembers it."""

    def __init__(self) -> None:
        self._seen: dict[int, set[tuple[str, str | None]]] = {}
        self._last: dict[int, int] = {}
        self._today = 0

    def is_new(self, item: Item, received: int) -> bool:
        """Whether the visitor hadn't done the same that day; `received` in milliseconds, never falling."""
        if item.visitor is None:
            return True
        if received >= self._today + DAY_S * 1000:
            self._today = received
            for day in [day for day, last in self._last.items() if last < received - SEEN_LIFETIME_S * 1000]:
                del self._seen[day], self._last[day]
        day = int(item.timestamp // DAY_S)
        seen = self._seen.setdefault(day, set())
        same = (item.visitor, item.docs[0] if item.clicks else None)
        if same in seen:
            return False
        seen.add(same)
        self._last[day] = received
        return True
