"""The click log is looked up in a thread, while OpenSearch searches the other legs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from trifuse.ranker.clicked import Clicked, read_evidence, why_not_asked
from trifuse.ranker.clicks import ClickEvidence
from trifuse.ranker.profiles import Profile
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import Target
from trifuse.ranker.types import ClickLookup, LegReport

MOST_AT_ONCE = 32
"""A lookup mostly waits; one that finds no thread within its budget is left out."""


class Lookups:
    """Lookups under way, in threads of their own.

    Safe to share by threads. The threads start with the first lookup, and a process that was forked since
    starts its own. They end with `close`, with the object, or with the process.

    Args:
        clicks: where click evidence comes from; None: there is none.
    """

    def __init__(self, clicks: ClickLookup | None) -> None:
        self._clicks = clicks
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def start(
        self, text: str, target: Target, profile: Profile, encoded: Encoded, *, leave_one_out: bool
    ) -> Callable[[], Clicked]:
        """Start a lookup.

        Returns:
            what waits for it, no longer than until the profile's budget is spent, counted from now. A lookup
            that is late or breaks is reported, not raised.
        """
        if self._clicks is None:
            return _given(LegReport("off", "no click store"))
        why_not = why_not_asked(text, target, profile)
        if why_not is not None:
            return _given(why_not)
        started = time.monotonic()
        try:
            future = self._pool().submit(
                self._clicks.lookup,
                target.expression,
                text,
                encoded.vector,
                space=encoded.space,
                budget_s=profile.click_budget_s,
                settings=profile.clicks,
                leave_one_out=leave_one_out,
            )
        except RuntimeError as error:  # no more threads, or closed meanwhile
            return _given(LegReport("failed", f"the click log couldn't be looked up: {error}"))
        return lambda: _joined(future, started, profile)

    def close(self) -> None:
        """End the threads, after what they look up. A later lookup starts new ones."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.shutdown()

    def _pool(self) -> ThreadPoolExecutor:
        """This process's pool: after a fork the parent's has no threads here."""
        process = os.getpid()
        pool = self._pools.get(process)
        if pool is None:
            # Of two threads that get here at once one's pool is kept; the other's has no threads yet.
            pool = self._pools.setdefault(process, ThreadPoolExecutor(MOST_AT_ONCE, "trifuse-clicks"))
        return pool


def _given(report: LegReport) -> Callable[[], Clicked]:
    return lambda: Clicked(report)


def _joined(future: Future[ClickEvidence], started: float, profile: Profile) -> Clicked:
    left = started + profile.click_budget_s - time.monotonic()
    wait([future], timeout=max(0.0, left))
    took = round((time.monotonic() - started) * 1000)
    if not future.done():
        future.cancel()
        why = f"the click log wasn't looked up within the budget of {profile.click_budget_s:g} s"
        return Clicked(LegReport("failed", why, took))
    error = future.exception()
    if error is not None:
        why = f"the click log couldn't be looked up: {str(error) or type(error).__name__}"
        return Clicked(LegReport("failed", why, took))
    return read_evidence(future.result(), profile)
