"""Checks of a profile's settings: what is out of range is named, with what is expected. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.types import LEGS
from trifuse.ranker.values import check_whole, is_number

MAX_WEIGHT = 1e6
"""Beyond it scores that aren't normalised could add up to no finite number."""

LEAST_WEIGHT = 1e-12
"""Of a leg that is run: below it products of scores lose their digits, and then are 0."""


def is_text(value: object) -> bool:
    """Whether it is a text that isn't empty."""
    return isinstance(value, str) and value != ""


def known(value: Any, names: Iterable[str], what: str) -> dict[str, Any]:
    """A copy of an object of which every key is one of these names.

    Raises:
        ProfileError: it is none.
    """
    if not isinstance(value, Mapping):
        raise ProfileError(f"{what} is a {type(value).__name__}: give a JSON object")
    names = list(names)
    unknown = sorted(map(str, set(value) - set(names)))
    if unknown:
        raise ProfileError(f"{what} has no {unknown[0]!r}: it has {', '.join(names)}")
    return dict(value)


def by_leg(name: str, value: Any, example: str) -> Mapping[str, Any]:
    """The same, where it is a mapping whose keys are legs.

    Raises:
        ProfileError: it is none.
    """
    if not isinstance(value, Mapping):
        raise ProfileError(f"{name} is {value!r}: give {example}")
    unknown = sorted(map(str, set(value) - set(LEGS)))
    if unknown:
        raise ProfileError(f"{name}: there is no leg {unknown[0]!r}: the legs are {', '.join(LEGS)}")
    return value


def check_weight(what: str, value: object) -> None:
    """A weight is 0, or a number that scores can be multiplied and divided by.

    Raises:
        ProfileError: it is none.
    """
    if not is_number(value) or not 0 <= value <= MAX_WEIGHT:
        raise ProfileError(f"{what} is {value!r}: give a finite number from 0 to {MAX_WEIGHT:g}")
    if 0 < value < LEAST_WEIGHT:
        raise ProfileError(f"{what} is {value!r}: give 0, or {LEAST_WEIGHT:g} or more")


def read_depths(value: Any) -> dict[str, int]:
    """Leg to hits taken from it.

    Raises:
        ProfileError: it is none, or of the click leg, which has another name for it.
    """
    depths = by_leg("depths", value, '{"dense": 50}')
    if "clicks" in depths:
        raise ProfileError("depths names clicks: how many clicked documents are taken is clicks.candidates")
    for leg, depth in depths.items():
        check_whole(f"the depth of {leg}", depth)
    return dict(depths)


def read_floors(value: Any) -> dict[str, float]:
    """Leg to floor.

    Raises:
        ProfileError: it is none.
    """
    floors = by_leg("floors", value, '{"dense": 0.6}')
    for leg, floor in floors.items():
        if not is_number(floor):
            raise ProfileError(f"the floor of {leg} is {floor!r}: give a score, as the server gives it")
    return {leg: float(floor) for leg, floor in floors.items()}


def read_bounds(value: Any) -> dict[str, tuple[float | None, float | None]]:
    """Leg to the lowest and the highest score.

    Raises:
        ProfileError: it is none.
    """
    return {leg: _bounds(leg, pair) for leg, pair in by_leg("bounds", value, '{"dense": [0.5, 1]}').items()}


def _bounds(leg: str, pair: Any) -> tuple[float | None, float | None]:
    ends = list(pair) if isinstance(pair, list | tuple) else []
    if len(ends) != 2 or not all(end is None or is_number(end) for end in ends):
        raise ProfileError(f"the bounds of {leg} are {pair!r}: give [lowest, highest], each a score or null")
    lowest, highest = (None if end is None else float(end) for end in ends)
    if lowest is not None and highest is not None and lowest >= highest:
        raise ProfileError(f"the bounds of {leg} are {pair!r}: the lowest has to be below the highest")
    return lowest, highest
