"""Times of click logs."""

from __future__ import annotations

import pytest

from trifuse.worker.clicks.times import parse_time

NEW_YEAR_2013 = 1356998400.0  # seconds from 1970-01-01 to 2013-01-01, UTC


@pytest.mark.parametrize(
    "value",
    [
        "2013-01-01",
        "2013-01-01T00:00:00",
        "2013-01-01T00:00:00Z",
        "2013-01-01 00:00:00",
        "2013-01-01T01:00:00.000+01:00",
        1356998400,
        1356998400.0004,
        1356998400000,
        "1356998400",
        "1356998400000",
        "/Date(1356998400000)/",
        "/Date(1356998400000+0100)/",
    ],
)
def test_forms_of_one_time(value: object) -> None:
    assert parse_time(value) == NEW_YEAR_2013


def test_milliseconds_are_kept() -> None:
    assert parse_time("2013-01-01T00:00:00.1239Z") == NEW_YEAR_2013 + 0.124


@pytest.mark.parametrize("value", [None, ""])
def test_no_time(value: object) -> None:
    assert parse_time(value) is None


@pytest.mark.parametrize(
    "value", ["yesterday", True, [], {}, float("nan"), float("inf"), "nan", 1e40, "9" * 50, "0000-00-00", "²"]
)
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(ValueError, match="expected a time"):
        parse_time(value)
