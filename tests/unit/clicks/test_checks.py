"""C5: every kind of bad event has its reason, and none raises."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import fault, position_or_none
from trifuse.worker.clicks.events import ClickEvent

NOW = 1.8e9
YEAR = 365 * 86_400.0


def click(**change: Any) -> ClickEvent:
    return ClickEvent(**({"query": "asthma", "doc_id": "a"} | change))


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (click(), None),
        (click(position=None, session=None, shown=()), None),
        (click(query=None), checks.NO_QUERY),
        (click(query=""), checks.NO_QUERY),
        (click(query=" ?! "), checks.NO_QUERY),
        (click(query=None, query_id="q"), checks.UNKNOWN_QUERY_ID),
        (click(query="x" * 10_240), checks.QUERY_TOO_LONG),
        (click(query="x" * 1000), None),
        (click(query="\ufdfa" * 100), checks.QUERY_TOO_LONG),  # one character that unfolds to eighteen
        (click(doc_id=None), checks.NO_DOCUMENT),
        (click(doc_id=""), checks.NO_DOCUMENT),
        (click(kind="impression", doc_id=None, shown=("a", "b")), None),
        (click(doc_id="d" * 513), checks.ID_TOO_LONG),
        (click(session="s" * 100_000), checks.ID_TOO_LONG),
        (click(shown=("a", "d" * 513)), checks.ID_TOO_LONG),
        (click(query="half \ud800"), checks.UNREADABLE),
        (click(doc_id="\udfff"), checks.UNREADABLE),
        (click(timestamp=NOW + 3 * YEAR), checks.IN_THE_FUTURE),
        (click(timestamp=NOW + 14 * 3600), None),  # a time that lost its zone
        (click(timestamp=-1.0), checks.BEFORE_1970),
        (click(timestamp=0.0), None),
        (click(count=0), checks.NOT_AN_EVENT),
        (click(count=-5), checks.NOT_AN_EVENT),
        (click(count=10**12), checks.NOT_AN_EVENT),
    ],
)
def test_c5_reasons(event: ClickEvent, reason: str | None) -> None:
    assert fault(event, NOW) == reason


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1), (10**6, 10**6), (0, None), (-1, None), ("2", None), (True, None), (None, None), (1.0, None)],
)
def test_positions_count_from_one(value: object, expected: int | None) -> None:
    assert position_or_none(value) == expected
