"""Click-through by rank, estimated from the log and kept with it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.worker.clicks.errors import BadCurve, NoEvents, NoPages, SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.positions import DEFAULT_CURVE, curve, save_curve
from trifuse.worker.clicks.rates import estimate

NOW = time.time() - 1000


def page(search: str | None, length: int, **more: Any) -> ClickEvent:
    shown = tuple(f"d{n}" for n in range(length))
    return ClickEvent(query="asthma", kind="impression", query_id=search, timestamp=NOW, shown=shown, **more)


def click(search: str | None, position: int | None, session: str = "s", **more: Any) -> ClickEvent:
    doc = f"d{(position or 1) - 1}"
    return ClickEvent(
        query="asthma",
        doc_id=doc,
        query_id=search,
        session=session,
        position=position,
        timestamp=NOW,
        **more,
    )


LOG = [
    page("a", 3),
    click("a", 1),
    click("a", 1, "again"),  # the same page: rank 1 was clicked on it
    click("a", 3),
    page("b", 2),
    click("b", 2),
    click("b", None),  # where it stood isn't known
    click("b", 3),  # beyond its page
    page("c", 1),
    click("d", 1),  # of a search whose page isn't known
    click(None, 2),  # of no search
    page(None, 3),  # which no click can name
    # clicks that bring their page: one click each
    click(None, 1, "x", shown=("d0", "d1")),
    click(None, 2, "y", shown=("d0", "d1")),
    click(None, None, "z", shown=("d0", "d1")),
]


def test_rates_are_those_of_known_pages(index: str, client: OpenSearch, intake: Intake) -> None:
    intake.take(LOG)
    found = estimate(client, index)
    assert (found.pages, found.pageless) == (6, 1)
    first, second, third, fourth = found.ranks[:4]
    assert (first.rank, first.shown, first.clicked) == (1, 6, 2)  # a, and x
    assert (second.rank, second.shown, second.clicked) == (2, 5, 2)  # b, and y
    assert (third.rank, third.shown, third.clicked) == (3, 1, 1)  # a
    assert (fourth.shown, fourth.clicked) == (0, 0)
    # (2 + 100 * 0.3) / 106; then 100 pages of 1/2, of 2/3 of the rate above; from there as 1 / rank falls
    two = (2 + 100 * (32 / 106) / 2) / 105
    three = (1 + 100 * two * 2 / 3) / 101
    assert found.curve[:3] == pytest.approx([32 / 106, two, three])
    assert found.curve[3:] == pytest.approx([three * 3 / rank for rank in range(4, 21)])


def test_a_saved_curve_is_the_one_in_use_and_nothing_else_in_meta_is_lost(
    index: str, client: OpenSearch, intake: Intake
) -> None:
    name = events_index(index)
    client.indices.put_mapping(
        index=name, body={"_meta": {"theirs": {"a": 1}, "trifuse": {"format": 1, "other": [2]}}}
    )
    assert curve(client, index) == DEFAULT_CURVE
    save_curve(client, index, [0.5, 0.25])
    assert curve(client, index) == (0.5, 0.25)
    meta = client.indices.get_mapping(index=name)[name]["mappings"]["_meta"]
    assert meta == {
        "theirs": {"a": 1},
        "trifuse": {"format": 1, "other": [2], "positions": [0.5, 0.25]},
    }
    save_curve(client, index, DEFAULT_CURVE)
    assert curve(client, index) == DEFAULT_CURVE


def test_a_curve_that_is_none_is_said(index: str, client: OpenSearch, intake: Intake) -> None:
    with pytest.raises(BadCurve, match="from 0 to 1"):
        save_curve(client, index, [2.0])
    client.indices.put_mapping(index=events_index(index), body={"_meta": {"trifuse": {"positions": "0.3"}}})
    with pytest.raises(BadCurve, match="positions --save"):
        curve(client, index)


def test_without_events_or_pages(index: str, client: OpenSearch, intake: Intake) -> None:
    with pytest.raises(NoPages, match="query_response_hit_ids"):
        estimate(client, index)
    absent = f"{index}-absent"
    assert curve(client, absent) == DEFAULT_CURVE
    with pytest.raises(SearchIndexMissing, match="check the name"):
        estimate(client, absent)
    with pytest.raises(NoEvents, match="clicks load"):
        save_curve(client, absent, [0.5])
    client.indices.delete(index=events_index(index))
    with pytest.raises(NoEvents, match="clicks load"):
        estimate(client, index)
