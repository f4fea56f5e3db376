"""Counting events in Redis: each once, whatever is delivered again, and no visitor without end.

    counted = Counter(redis, "trials").count(items)

What an event adds and its mark of being counted are written by one script (`counting_script`), so that
nothing can come between them. A query's clicks are a string that is only appended to; where one has grown,
`count` compacts it (`compaction`). While Redis counts some items, the next are packed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import msgspec

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS, MIN_HALF_LIFE_DAYS
from trifuse.ranker.clicks.records import RECORD_BYTES
from trifuse.ranker.keys import (
    AGGREGATE_LIFETIME_S,
    DAY_S,
    SEEN_LIFETIME_S,
    clicks_key,
    docs_key,
    few_key,
    queries_key,
    seen_key,
    visits_key,
)
from trifuse.worker.clicks.compaction import COMPACT_FROM, Compactor
from trifuse.worker.clicks.counting_script import COUNT
from trifuse.worker.clicks.items import Item
from trifuse.worker.clicks.names import text_of
from trifuse.worker.clicks.packing import Packed, names_of, packed
from trifuse.worker.clicks.sending import Commands, commands

MIN_VISITORS = 3
"""A query that fewer visitors made is nobody else's to see."""

MAX_A_DAY = 100
"""So many clicks of one visitor count in a day."""

MAX_DOCS = 1000
"""So many documents of a query are kept: its string has 40 kB or so at most."""

ITEMS_AT_ONCE = 1000
"""More are counted in several scripts, as Redis waits for each."""


class Counted(msgspec.Struct):
    """What became of items.

    Args:
        counted: positions of those that are counted now.
        over_cap: positions of those over the daily cap of their visitor; the others had been counted before.
        queries: how many past queries are new.
        pairs: how many pairs of query and document are, where that was asked for.
        public: public past query's id to how often it was clicked for, of the queries of the items.
    """

    counted: list[int] = msgspec.field(default_factory=list)
    over_cap: list[int] = msgspec.field(default_factory=list)
    queries: int = 0
    pairs: int = 0
    public: dict[str, int] = msgspec.field(default_factory=dict)


class Counter:
    """Counts the clicks of one index.

    Args:
        redis: a client of the click store.
        index: the search index or alias that the clicks belong to.
        half_life_days: the time in which a click loses half of its weight.
        min_visitors: a query is public once so many visitors clicked for it; 1 for every query.
        max_a_day: so many clicks of one visitor count in a day.
        max_docs: so many documents of a query are kept, the most clicked, whenever its string is compacted.
        max_queries: of more public queries, those with the fewest clicks are dropped; of more others, any.

    Raises:
        ValueError: a half-life under an hour, or bounds that are no counts.
    """

    def __init__(
        self,
        redis: Any,
        index: str,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
        min_visitors: int = MIN_VISITORS,
        max_a_day: int = MAX_A_DAY,
        max_docs: int = MAX_DOCS,
        max_queries: int = 1_000_000,
    ) -> None:
        if half_life_days < MIN_HALF_LIFE_DAYS:
            raise ValueError(
                f"a half-life of {half_life_days} days can't be kept exactly: expected an hour or more"
            )
        if not 1 <= min_visitors <= 1000 or not 1 <= max_a_day <= 10_000:
            raise ValueError(
                "expected min_visitors from 1 to 1,000 and max_a_day from 1 to 10,000, got "
                f"{min_visitors} and {max_a_day}"
            )
        self.index = index
        self.half_life_days = half_life_days
        self._redis = redis
        self._clicks_prefix = clicks_key(index, half_life_days, "")
        self._compactor = Compactor(redis, half_life_days, max_docs)
        self._settings = {
            "min_visitors": min_visitors,
            "max_a_day": max_a_day,
            "max_queries": max_queries,
            "record_bytes": RECORD_BYTES,
            "prefix": len(self._clicks_prefix.encode()),
            "compact_from": COMPACT_FROM * RECORD_BYTES,
            "marks_s": SEEN_LIFETIME_S,
            "queries_s": AGGREGATE_LIFETIME_S,
            "unclicked_s": DAY_S,
        }

    def count(self, items: Sequence[Item], *, pairs: bool = False) -> Counted:
        """Count each item that wasn't counted before, in their order.

        Args:
            pairs: count new pairs of query and document, too, which takes as long again.
        """
        found = Counted()
        compact: list[str] = []
        waiting: tuple[Packed, int] | None = None
        with commands(self._redis) as redis:
            for start in range(0, len(items), ITEMS_AT_ONCE):
                batch = packed(items[start : start + ITEMS_AT_ONCE])
                self._send(redis, batch, count_pairs=pairs)
                if waiting:
                    compact += self._note(*waiting, redis.answer(), found)
                waiting = batch, start
            # An event whose document has no name yet, as something ended this here, is delivered again.
            named = self._name(redis, items)
            if waiting:
                compact += self._note(*waiting, redis.answer(), found)
            for _ in range(named):
                redis.answer()
        self._compactor.compact(list(dict.fromkeys(compact)))
        return found

    def mark(self, items: Sequence[Item]) -> None:
        """Mark items as counted, without counting them."""
        marks_only = {"max_a_day": 2**30, "marks_only": True}
        with commands(self._redis) as redis:
            for start in range(0, len(items), ITEMS_AT_ONCE):
                self._send(redis, packed(items[start : start + ITEMS_AT_ONCE]), **marks_only)
                redis.answer()

    def _name(self, redis: Commands, items: Sequence[Item]) -> int:
        """Send the ids of the documents that were clicked; the number of commands that takes."""
        names = list(names_of(items).items())
        if not names:
            return 0
        key = docs_key(self.index, self.half_life_days)
        starts = range(0, len(names), ITEMS_AT_ONCE)
        for start in starts:
            redis.send("HSET", key, *chain.from_iterable(names[start : start + ITEMS_AT_ONCE]))
        redis.send("EXPIRE", key, AGGREGATE_LIFETIME_S)
        return len(starts) + 1

    def _send(self, redis: Commands, batch: Packed, **change: Any) -> None:
        keys = self._keys(batch)
        redis.send("EVAL", COUNT, len(keys), *keys, *self._args(batch, **change))

    def _note(self, batch: Packed, start: int, answer: Sequence[Any], found: Counted) -> list[str]:
        """Add to `found` what the script answered for items that start there; the keys to compact."""
        again, over, new_queries, new_pairs, totals, compact, dropped = answer
        over_cap = [batch.order[int(place) - 1] for place in text_of(over).split()]
        new = [True] * len(batch.order)
        for place in [*over_cap, *(batch.order[int(place) - 1] for place in text_of(again).split())]:
            new[place] = False
        found.counted += compress(range(start, start + len(new)), new)
        found.over_cap += sorted(start + place for place in over_cap)
        found.queries += int(new_queries)
        found.pairs += int(new_pairs)
        for query, total in zip(batch.queries, text_of(totals).split(), strict=True):
            if total != "-":
                found.public[query] = int(total)
        if gone := text_of(dropped).split():
            self._redis.unlink(*[self._clicks_prefix + query for query in gone])
        return [self._clicks_prefix + batch.queries[int(place)] for place in text_of(compact).split()]

    def _keys(self, batch: Packed) -> list[str]:
        of = (self.index, self.half_life_days)
        return [
            queries_key(*of),
            few_key(*of),
            *(visits_key(*of, day * DAY_S) for day in batch.days),
            *(seen_key(*of, day * DAY_S) for day in batch.days),
            *[self._clicks_prefix + query for query in batch.queries],
        ]

    def _args(self, batch: Packed, **change: Any) -> list[bytes]:
        today = f" {int(time.time() // DAY_S)}"
        return [msgspec.msgpack.encode({**self._settings, "today": today, **change}), *batch.args]
