"""A process writes vectors no faster than the cluster takes them, and searches bear: see `pacing`."""

from __future__ import annotations

import time
from collections.abc import Callable

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from trifuse.indexer.reading import OWN_SEARCHES
from trifuse.worker.pacing import Baseline, Pacing

READ_EVERY_S = 5.0
READ_S = 5.0
STILL_S = 30.0
"""After so long without a batch, what searches took meanwhile was not our doing."""


class Pressure:
    """What one process knows of the load, and how long it paused for it.

    Nothing is asked while there is no work, and the pause comes before the next batch: the last one of a job
    isn't held up, nor its message.

    Args:
        most_ms: see `Baseline`.
        clock, sleep: in seconds.
    """

    def __init__(
        self,
        most_ms: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.pacing = Pacing()
        self._most_ms = most_ms
        self._clock = clock
        self._sleep = sleep
        self._go_on_at = 0.0
        self._seen: dict[str, _Index] = {}

    def wait(self) -> float:
        """Pause as long as the batches before demand; the seconds."""
        pause = self._go_on_at - self._clock()
        if pause <= 0:
            return 0.0
        self._sleep(pause)
        return pause

    def note(self, client: OpenSearch, index: str, *, began: float, crowded: bool) -> None:
        """Learn from a batch that was written to an index.

        Args:
            began: when, by this object's `now`.
            crowded: the cluster had no room for a part of it.
        """
        self.pacing.note(crowded=crowded, slow=self._searches_are_slow(client, index))
        self._pause_after(began)

    def note_refusal(self, *, began: float) -> None:
        """Learn from a batch that OpenSearch had no room or time for at all."""
        self.pacing.note(crowded=True)
        self._pause_after(began)

    def now(self) -> float:
        """The time, for `note`."""
        return self._clock()

    def _pause_after(self, began: float) -> None:
        now = self._clock()
        self._go_on_at = now + self.pacing.pause_s(now - began)

    def _searches_are_slow(self, client: OpenSearch, index: str) -> bool | None:
        """None where it isn't time to ask again; what OpenSearch doesn't tell is no reason to pause."""
        now = self._clock()
        seen = self._seen.setdefault(index, _Index(Baseline(self._most_ms)))
        since = now - seen.at
        if since < READ_EVERY_S:
            return None
        seen.at = now
        try:
            searches, took_ms = _read(client, index)
        except (OpenSearchException, KeyError):
            return False
        return seen.slow(searches, took_ms) and since < STILL_S


class _Index:
    def __init__(self, baseline: Baseline) -> None:
        self.at = float("-inf")
        self._baseline = baseline
        self._searches = 0
        self._took_ms = 0.0
        self._known = False

    def slow(self, searches: int, took_ms: float) -> bool:
        """Whether those since the last time were slow; counters fall where a shard moves or starts anew."""
        more, longer = searches - self._searches, took_ms - self._took_ms
        known, self._known = self._known, True
        self._searches, self._took_ms = searches, took_ms
        return known and more > 0 and longer >= 0 and self._baseline.slow(more, longer)


def _read(client: OpenSearch, index: str) -> tuple[int, float]:
    """Searches by others than trifuse since its shards started, one for each, and their milliseconds."""
    wanted = {"groups": OWN_SEARCHES, "filter_path": "_all.total.search", "request_timeout": READ_S}
    answer = client.indices.stats(index=index, metric="search", params=wanted)
    search = answer["_all"]["total"]["search"]
    own = search.get("groups", {}).get(OWN_SEARCHES, {})
    return (
        search["query_total"] - own.get("query_total", 0),
        search["query_time_in_millis"] - own.get("query_time_in_millis", 0),
    )
