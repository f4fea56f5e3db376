"""The profiles that a ranker serves by name: read from the store, and read again every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Thread

from trifuse.ranker.errors import RankerError
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.store import ProfileStore

TTL_S = 2.0
"""A profile is read again where the store was last asked so long ago."""

OLD_S = 10.0
"""Where it was asked longer ago than this, the search waits: after a quiet time no new version is missed."""

PATIENCE_S = 0.25
"""It waits no longer than this."""


@dataclass(frozen=True)
class Served:
    """A profile as a search uses it.

    Args:
        version: of the stored profile; None where it is none.
        note: why a newer version may have been missed; None: it is what was current a moment ago.
    """

    profile: Profile
    version: int | None = None
    note: str | None = None


@dataclass
class _Known:
    """What was read of one profile.

    Args:
        read: when, in seconds of the clock.
        asked: when the store was last asked for it.
        fault: why it couldn't be read then.
    """

    profile: Profile
    version: int
    read: float
    asked: float
    fault: str | None = None

    def served(self, now: float) -> Served:
        age, note = now - self.read, None
        if self.fault is not None or age >= OLD_S:
            note = f"read {age:.0f} s ago, and not since: {self.fault or 'OpenSearch has not answered yet'}"
        return Served(self.profile, self.version, note)


class ServedProfiles:
    """Profiles by name; safe to share by threads, without a lock that a fork could leave locked.

    Args:
        clock: seconds, for tests.
    """

    def __init__(self, store: ProfileStore, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._built_in = published()
        self._known: dict[str, _Known] = {}

    def get(self, profile: Profile | str) -> Served:
        """The profile by its name, `mine` or `mine@3`; or as it is given.

        What was read in the last seconds is used as it is; what is older is read again in a thread meanwhile.
        Where that fails, or the profile is gone, what is known goes on being served.

        Raises:
            ProfileError: there is no such profile, or none that can be used.
            SearchUnavailable: it was never read, and OpenSearch doesn't answer.
        """
        if isinstance(profile, Profile):
            return Served(profile)
        if profile in self._built_in:
            return Served(self._built_in[profile])
        known = self._known.get(profile)
        if known is None:
            return self._read(profile).served(self._clock())
        quiet_s = self._clock() - known.asked
        if quiet_s >= TTL_S:
            known.asked += quiet_s
            self._refresh_beside(profile, PATIENCE_S if quiet_s >= OLD_S else 0.0)
        return self._known[profile].served(self._clock())

    def _read(self, name: str) -> _Known:
        asked = self._clock()
        found = self._store.get(name)
        read = _Known(replace(found.profile, name=name), found.version, asked, asked)
        before = self._known.get(name)
        if before is None or before.read <= asked:  # else a later reading was quicker
            self._known[name] = read
        return self._known[name]

    def _refresh_beside(self, name: str, patience_s: float) -> None:
        thread = Thread(target=self._refresh, args=(name,), name="trifuse-profile", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            self._known[name].fault = str(error)
        else:
            thread.join(patience_s)

    def _refresh(self, name: str) -> None:
        try:
            self._read(name)
        except RankerError as error:
            self._known[name].fault = str(error)
