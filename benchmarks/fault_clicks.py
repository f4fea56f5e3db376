"""The job `clicks` of the fault matrix: click events are taken in, and each counts once."""

from __future__ import annotations

import time

from fault_checks import demand, eventually
from fault_stack import Stack

from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.indexer.mapping import index_body
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.produce import record_clicks
from trifuse.worker.clicks.rebuild import rebuild

EVENTS = 600
MESSAGE = 10


class Clicks:
    """Click events are taken in; at the end each counts once, and a rebuild gives the same counts."""

    encoders = (DEFAULT_ENCODER,)

    def __init__(self, stack: Stack, documents: int) -> None:
        self._stack = stack
        self._index = f"faults-clicks-{time.monotonic_ns()}"
        self._events = [
            ClickEvent(
                event_id=f"e{number}",
                query=f"query {number % 7}",
                doc_id=f"d{number % min(10, documents)}",
                timestamp=time.time() - number,
            )
            for number in range(EVENTS)
        ]

    def start(self, *, twice: bool) -> None:
        """Make the search index, and send the events."""
        self._stack.client.indices.create(index=self._index, body=index_body({"title": {"type": "text"}}))
        for document in {event.doc_id for event in self._events}:
            self._stack.client.index(index=self._index, id=document, body={"title": document})
        self._stack.client.indices.refresh(index=self._index)
        for _ in range(2 if twice else 1):
            self._send()

    def half_done(self) -> bool:
        """Whether a good part of the events is counted."""
        return self._total() >= EVENTS // 4

    def finish(self) -> str:
        """What was lost with the broker is sent again, as its sender would; nothing counts twice."""
        eventually(lambda: self._stack.redis.llen("trifuse") == 0, "the queue isn't empty")
        self._send()
        eventually(lambda: self._stack.redis.llen("trifuse") == 0, "the queue isn't empty")
        # Counts that went with Redis are in the event index: the rebuild counts them.
        rebuild(self._stack.client, self._stack.redis, self._index)
        eventually(lambda: self._total() == EVENTS, f"{self._total():.0f} of {EVENTS} clicks are counted")
        counted = self._aggregates()
        rebuild(self._stack.client, self._stack.redis, self._index)
        again = self._aggregates()
        demand(counted.keys() == again.keys(), "a rebuild made other keys")
        worst = max(
            abs(score - again[key].get(member, 0.0))
            for key, members in counted.items()
            for member, score in members.items()
        )
        demand(worst < 1e-6, f"a rebuild changed a count by {worst}")
        return f"{EVENTS} clicks counted once, {self._stack.killed} processes killed"

    def _send(self) -> None:
        for start in range(0, EVENTS, MESSAGE):
            record_clicks(self._stack.app, self._index, self._events[start : start + MESSAGE])

    def _aggregates(self) -> dict[str, dict[str, float]]:
        """How often each query was clicked for, and its documents, by key."""
        redis, of = self._stack.redis, (self._index, HALF_LIFE_DAYS)
        counted = {
            queries_key(*of): {
                key: clicks_counted(value) or 0.0 for key, value in redis.hgetall(queries_key(*of)).items()
            }
        }
        keys = list(redis.scan_iter(match=clicks_key(*of, "*"), count=1000))
        sums = merged(read_strings(redis, keys), self._events[0].timestamp or 0.0, HALF_LIFE_DAYS)
        for query, doc, clicks in zip(
            sums.query, sums.docs[sums.doc].tolist(), sums.clicks.tolist(), strict=True
        ):
            counted.setdefault(keys[query], {})[str(doc)] = clicks
        return counted

    def _total(self) -> float:
        return sum(self._aggregates()[queries_key(self._index, HALF_LIFE_DAYS)].values())
