"""The bundled sample: fictional trials, and the click log of a fictional search page over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

TRIALS = Path(__file__).with_name("trials.ndjson")
"""API v2 studies, one a line."""

CLICKS = Path(__file__).with_name("clicks.ndjson")
"""Rows of `ubi_queries` and `ubi_events`, by time."""

QUERY = "heart attack"
"""Words that the best trials for it do not use: they say myocardial infarction, or coronary syndrome."""

_TIME = "%Y-%m-%dT%H:%M:%SZ"


def click_rows() -> list[dict[str, Any]]:
    """The bundled click log as it stands in the file."""
    return [msgspec.json.decode(line) for line in CLICKS.read_bytes().splitlines()]


def shifted(rows: Iterable[Mapping[str, Any]], newest: datetime) -> Iterator[dict[str, Any]]:
    """The rows, moved in time so that the newest is at `newest`: old clicks would have decayed to nothing.

    >>> rows = [{"timestamp": "2025-01-01T00:00:00Z"}, {"timestamp": "2025-01-03T12:00:00Z"}]
    >>> [row["timestamp"] for row in shifted(rows, datetime(2030, 6, 9, 12, tzinfo=UTC))]
    ['2030-06-07T00:00:00Z', '2030-06-09T12:00:00Z']
    """
    rows = list(rows)
    times = [datetime.strptime(row["timestamp"], _TIME).replace(tzinfo=UTC) for row in rows]
    delta = newest.astimezone(UTC) - max(times)
    for row, time in zip(rows, times, strict=True):
        yield {**row, "timestamp": (time + delta).strftime(_TIME)}


def write_shifted_clicks(target: Path, newest: datetime) -> None:
    """Write the click log to a file, moved in time so that it ends at `newest`."""
    lines = (msgspec.json.encode(row) for row in shifted(click_rows(), newest))
    target.write_bytes(b"\n".join(lines) + b"\n")
