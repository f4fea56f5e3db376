"""How many documents a second were done lately: by what each process notes of its last minute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

WINDOW_S = 60.0
_SLOT_S = 5.0
"""What happens within it is noted together, so that a note stays small."""
_LEAST_S = 5.0


class Done(msgspec.Struct, frozen=True, array_like=True):
    """Documents that were done.

    Args:
        at: when, in seconds since 1970.
        index, field: where.
        count: how many.
    """

    at: float
    index: str
    field: str
    count: int


def with_done(lately: Sequence[Done], done: Done) -> list[Done]:
    """The notes of the last minute with a new one, joined to one of the same few seconds."""
    kept = [item for item in lately if 0 <= done.at - item.at < WINDOW_S]
    for position, item in enumerate(kept):
        if (item.index, item.field) == (done.index, done.field) and done.at - item.at < _SLOT_S:
            kept[position] = Done(item.at, item.index, item.field, item.count + done.count)
            return kept
    return [*kept, done]


def rates(processes: Iterable[Sequence[Done]], now: float) -> dict[str, dict[str, float]]:
    """Documents a second, by index and field: over the last minute, or since the first of it was done.

    >>> rates([[Done(100.0, "trials", "v", 30)], [Done(110.0, "trials", "v", 10)]], now=120.0)
    {'trials': {'v': 2.0}}
    """
    notes: dict[tuple[str, str], list[Done]] = defaultdict(list)
    for lately in processes:
        for item in lately:
            if 0 <= now - item.at < WINDOW_S:
                notes[item.index, item.field].append(item)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for (index, field), items in notes.items():
        span = max(_LEAST_S, now - min(item.at for item in items))
        found[index][field] = round(sum(item.count for item in items) / span, 2)
    return dict(found)
