"""The click log is looked up once the other legs are searched, and its past queries along with them.

A store that can't have its past queries searched along is looked up in a thread, while the other legs are
searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

from trifuse.encoder.threads import Threads
from trifuse.ranker.clicked import Clicked, read_evidence, why_not_asked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import Target
from trifuse.ranker.types import ClickLookup, JointLookup, LegReport

MOST_AT_ONCE = 32
"""A lookup mostly waits; one that finds no thread within its budget is left out."""


class LookUp:
    """One lookup; call it for what it finds.

    Args:
        find: waits for what is under way, or looks up, with the answer to `along` where there is one.
        along: header and body of a search for past queries, for `_msearch`: its answer spares one.
    """

    def __init__(
        self,
        find: Callable[[Mapping[str, Any] | None], Clicked],
        along: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    ) -> None:
        self.along = along
        self._find = find
        self._answer: Mapping[str, Any] | None = None

    def answered(self, answer: Mapping[str, Any]) -> None:
        """Keep the answer to the search that went along."""
        self._answer = answer

    def __call__(self) -> Clicked:
        """What is found; a lookup that is late or breaks is reported, not raised."""
        return self._find(self._answer)


class Lookups:
    """Starts lookups; safe to share by threads.

    Its own threads start with the first lookup that needs one.

    Args:
        clicks: where click evidence comes from; None: there is none.
    """

    def __init__(self, clicks: ClickLookup | None) -> None:
        self._clicks = clicks
        self._threads = Threads(MOST_AT_ONCE, "trifuse-clicks")

    def start(
        self, text: str, target: Target, profile: Profile, encoded: Encoded, *, leave_one_out: bool
    ) -> LookUp:
        """Start a lookup in a thread, or leave it until its past queries were searched along with the legs.

        The budget of one in a thread counts from now. Another begins when it is called, and a half of its
        budget is for the search that went along.
        """
        clicks, settings, index = self._clicks, profile.clicks, target.expression
        if clicks is None:
            return _given(LegReport("off", "no click store"))
        why_not = why_not_asked(text, target, profile)
        if why_not is not None:
            return _given(why_not)
        how: dict[str, Any] = {
            "space": encoded.space,
            "budget_s": profile.click_budget_s,
            "settings": settings,
            "leave_one_out": leave_one_out,
        }
        started = time.monotonic()
        if isinstance(clicks, JointLookup):
            along = clicks.similar_search(index, encoded.vector, **how)
            if along is not None:
                look_up = partial(clicks.lookup, index, text, encoded.vector, **how)
                return LookUp(lambda answer: _looked_up(partial(look_up, similar=answer), profile), along)
        try:
            future = self._threads.submit(partial(clicks.lookup, index, text, encoded.vector, **how))
        except RuntimeError as error:  # no more threads, or closed meanwhile
            return _given(LegReport("failed", f"the click log couldn't be looked up: {error}"))
        return LookUp(lambda _: _joined(future, started, profile))

    def close(self) -> None:
        """End the threads, after what they look up. A later lookup starts new ones."""
        self._threads.close()


def _given(report: LegReport) -> LookUp:
    return LookUp(lambda _: Clicked(report))


def _joined(future: Future[ClickEvidence], started: float, profile: Profile) -> Clicked:
    left = started + profile.click_budget_s - time.monotonic()
    wait([future], timeout=max(0.0, left))
    if not future.done():
        future.cancel()
        why = f"the click log wasn't looked up within the budget of {profile.click_budget_s:g} s"
        return Clicked(LegReport("failed", why, _ms(started)))
    return _looked_up(future.result, profile, started)


def _looked_up(
    look_up: Callable[[], ClickEvidence], profile: Profile, started: float | None = None
) -> Clicked:
    started = time.monotonic() if started is None else started
    try:
        return read_evidence(look_up(), profile)
    except Exception as error:  # noqa: BLE001 - whatever a store raises, the other legs answer
        why = f"the click log couldn't be looked up: {str(error) or type(error).__name__}"
        return Clicked(LegReport("failed", why, _ms(started)))


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
