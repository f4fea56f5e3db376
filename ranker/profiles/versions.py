"""Versions of a stored profile: how they are named, what they hold, and how two differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_REFERENCE = re.compile(rf"({_NAME.pattern})(?:@([1-9][0-9]{{0,8}}))?", re.ASCII)


@dataclass(frozen=True)
class Reference:
    """What stands for a stored profile: `mine` for what is current, `mine@3` for a version."""

    name: str
    version: int | None = None

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"

    @classmethod
    def parse(cls, text: str) -> Reference | None:
        """The reference that a text is; None where it can't be one.

        >>> Reference.parse("mine@3"), Reference.parse("mine.json")
        (Reference(name='mine', version=3), None)
        """
        found = _REFERENCE.fullmatch(text)
        return cls(found[1], int(found[2]) if found[2] else None) if found else None


def check_name(name: str) -> None:
    """A name that a profile can be stored under.

    Raises:
        ProfileError: it is none, or a built-in profile's.
    """
    if not _NAME.fullmatch(name):
        raise ProfileError(
            f"{name!r} can't be the name of a stored profile: give up to 64 letters, digits, '-' and '_', of "
            "which the first is a letter or a digit"
        )
    if name in published():
        raise ProfileError(f"{name!r} is built in and can't be changed: store it under another name")


@dataclass(frozen=True)
class ProfileVersion:
    """One version of a stored profile.

    Args:
        at: when it was stored, ISO 8601 in UTC.
        settings: the profile as JSON, as it was found.
        evidence: what was measured when it was chosen, as JSON; None: nothing was kept.
        current: whether it is what the name stands for.
        place: index and id of the document, for messages.
    """

    name: str
    version: int
    at: str
    note: str
    settings: Any
    evidence: Mapping[str, Any] | None
    current: bool
    place: str

    @property
    def profile(self) -> Profile:
        """The profile, under its name.

        Raises:
            ProfileError: the document was changed by other means, or is of another version of trifuse.
        """
        try:
            return replace(Profile.from_dict(self.settings), name=self.name)
        except ProfileError as error:
            raise ProfileError(
                f"the document {self.place} holds no profile that can be used: {error}; go back to another "
                f"version with `trifuse profile rollback {self.name} VERSION`"
            ) from error

    def as_dict(self) -> dict[str, Any]:
        """The version as JSON."""
        return {
            "name": self.name,
            "version": self.version,
            "current": self.current,
            "at": self.at,
            "note": self.note,
            "evidence": self.evidence,
            "profile": self.settings,
        }


def changes(before: Profile, after: Profile) -> dict[str, tuple[Any, Any]]:
    """Setting to what it was and what it is, where that differs; None where the one has no such setting.

    Settings are named by their path, `clicks.m`; the profile's own name is none of them.

    >>> changes(Profile(depth=50), Profile(name="mine"))
    {'depth': (50, 100)}
    """
    one, other = dict(_flat(before.as_dict())), dict(_flat(after.as_dict()))
    found = {path: (one.get(path), other.get(path)) for path in {**one, **other} if path != "name"}
    return {path: pair for path, pair in found.items() if pair[0] != pair[1]}


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, each in value.items():
        if isinstance(each, Mapping) and each:
            yield from _flat(each, f"{path}{key}.")
        else:
            yield path + key, each
