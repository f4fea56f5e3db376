"""Values of a log's fields, as an event holds them."""

from __future__ import annotations

from typing import Any

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import MAX_SHOWN, Fault
from trifuse.worker.clicks.times import parse_time


def as_id(value: object) -> str | None:
    """An id as text; None where there is none. Logs write ids as numbers, too."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def as_ids(value: object) -> tuple[str, ...]:
    """A list of ids, without what is none, cut to what is kept of a page."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(found for item in value[:MAX_SHOWN] if (found := as_id(item)) is not None)


def dig(record: dict[str, Any], *path: str) -> Any:
    """The value at a path through objects, or under the path as one dotted key; None where there is none."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return record.get(".".join(path)) if value is None else value


def timestamp_of(value: object) -> float | Fault | None:
    """Seconds since 1970, None where there is no time, a fault where it can't be read."""
    try:
        return parse_time(value)
    except ValueError:
        return Fault(checks.BAD_TIME)
