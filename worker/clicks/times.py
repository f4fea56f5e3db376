"""The times that click logs hold, as seconds since 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_MILLIS_FROM = 1e11
"""A larger number is in milliseconds: as seconds it would be in the year 5138."""

_DOTNET = re.compile(r"/Date\((-?\d+)(?:[+-]\d{4})?\)/")


def parse_time(value: object) -> float | None:
    """Seconds since 1970 to the millisecond, or None where there is no time (None, "").

    Understood: ISO 8601 (without a zone it is UTC), seconds or milliseconds since 1970 as a number or in
    digits, and `/Date(1356998400000)/`.

    Raises:
        ValueError: it is none of these.

    >>> parse_time("2013-01-01T01:00:00+01:00") == parse_time("/Date(1356998400000)/") == 1356998400.0
    True
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        raise ValueError(f"expected a time, got {value!r}")
    if isinstance(value, int | float):
        return _from_number(float(value))
    if not isinstance(value, str):
        raise ValueError(f"expected a time, got a {type(value).__name__}")
    text = value.strip()
    if found := _DOTNET.fullmatch(text):
        return _from_number(float(found[1]), millis=True)
    try:
        return _from_number(float(text))
    except ValueError:
        pass
    try:
        when = datetime.fromisoformat(text)
        return _to_millisecond(when.replace(tzinfo=when.tzinfo or UTC).timestamp())
    except (ValueError, OverflowError) as error:
        raise ValueError(f"expected a time, got {value[:40]!r}") from error


def _from_number(number: float, *, millis: bool = False) -> float:
    if not math.isfinite(number) or abs(number) > 1e15:
        raise ValueError(f"expected a time, got {number!r}")
    return _to_millisecond(number / 1000.0 if millis or abs(number) >= _MILLIS_FROM else number)


def _to_millisecond(seconds: float) -> float:
    return round(seconds * 1000.0) / 1000.0
