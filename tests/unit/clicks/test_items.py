"""What an event adds to the counts."""

from __future__ import annotations

from typing import Any

from trifuse.worker.clicks.items import Item, items_of
from trifuse.worker.clicks.store import StoredEvent

CURVE = (0.5, 0.25)


def event(**change: Any) -> StoredEvent:
    return StoredEvent(
        **(
            {
                "event_id": "e1",
                "kind": "click",
                "query": "Asthma",
                "query_key": "q",
                "timestamp": 86_400_500,
                "received": 86_400_900,
                "doc_id": "d2",
            }
            | change
        )
    )


def items(**change: Any) -> list[Item]:
    return list(items_of(event(**change), CURVE))


def test_a_click_without_a_position_expects_nothing() -> None:
    assert items() == [Item("e1", "q", 86_400.5, ("d2",), (0.0,), 1, None)]


def test_a_click_with_a_position_expects_its_own_document_alone() -> None:
    assert items(position=2) == [Item("e1", "q", 86_400.5, ("d2",), (0.25,), 1, None)]
    assert items(position=3)[0].expected == (0.0,)  # below the curve


def test_a_click_with_its_page_expects_the_page() -> None:
    click, page = items(position=2, shown=("d1", "d2", "d3"))
    assert click == Item("e1", "q", 86_400.5, ("d2",), (0.0,), 1, None)
    assert page == Item("page:e1", "q", 86_400.5, ("d1", "d2"), (0.5, 0.25), 0, None)


def test_a_click_that_names_its_search_leaves_the_page_to_it() -> None:
    assert items(query_id="s", position=1, shown=("d2", "d1")) == [
        Item("e1", "q", 86_400.5, ("d2",), (0.0,), 1, None)
    ]


def test_an_impression_is_a_page_also_with_its_search() -> None:
    expected = [Item("page:e1", "q", 86_400.5, ("d1",), (0.5,), 0, "s")]
    assert items(kind="impression", doc_id=None, shown=("d1",), query_id="x", session="s") == expected
    assert items(kind="impression", doc_id="d1") == []


def test_a_visitors_click_is_one_and_the_user_is_the_visitor() -> None:
    (click,) = items(count=7, session="s", user="u")
    assert (click.clicks, click.visitor) == (1, "u")
    assert items(count=7, session="s")[0].visitor == "s"
    assert items(count=7)[0].clicks == 7
