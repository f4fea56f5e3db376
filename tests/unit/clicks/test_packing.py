"""Batches as the counting script reads them."""

from __future__ import annotations

from itertools import combinations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.click_records import doc_hash, pack
from trifuse.worker.clicks.items import Item
from trifuse.worker.clicks.packing import event_mark, packed, records_of, visitor_mark

DAY = 86_400.0
CLICK = Item("e1", "q1", 2 * DAY, ("a",), (0.25,), 1, "v1")
PAGE = Item("e2", "q2", 2 * DAY + 1, ("a", "b"), (0.5, 0.25), 0, "v1")
STRANGER = Item("e3", "q1", DAY, ("b",), (0.0,), 4, None)


def test_records_are_those_of_the_reader() -> None:
    assert records_of([CLICK, PAGE]) == b"".join(
        [
            pack(doc_hash("a"), 2 * DAY, 1, 0.25),
            pack(doc_hash("a"), 2 * DAY + 1, 0, 0.5),
            pack(doc_hash("b"), 2 * DAY + 1, 0, 0.25),
        ]
    )


@given(st.floats(0, 5e9), st.integers(1, 10**9))
def test_any_time_and_count_are_packed_alike(when: float, count: int) -> None:
    item = Item("e", "q", when, ("a",), (0.1,), count, None)
    assert records_of([item]) == pack(doc_hash("a"), when, count, 0.1)


def test_a_batch_by_hand() -> None:
    batch = packed([CLICK, PAGE, STRANGER])
    columns, marks, records, visitors, queries, hashes, names = batch.args
    assert (batch.days, batch.queries) == ([2, 1], ["q1", "q2"])
    # Two visitors of the first day: who saw the page, and who clicked. A stranger of the second day.
    assert msgspec.msgpack.decode(columns) == [
        [2, 1, -2],
        [1, 2, 1],
        [2, 3],  # q1 has two items, q2 one
        [1, 3, 2],  # sorted by query: the first, the third, the second
        [1, 4, 0],
        [20, 40, 80],
    ]
    assert marks[16:24] == event_mark("e3")
    assert len(marks) == 24
    assert records == records_of([CLICK, STRANGER, PAGE])
    seen, clicked = visitor_mark("v1", page=True), visitor_mark("v1")
    eight = b"\xa8"
    assert visitors == (b"\xdd\0\0\0\2" + b"\xdd\0\0\0\2" + eight + seen + eight + clicked + b"\xdd\0\0\0\0")
    assert msgspec.msgpack.decode(queries) == ["q1", "q2"]
    assert hashes == b"\xdd\0\0\0\2" + eight + doc_hash("a") + eight + doc_hash("b")
    assert msgspec.msgpack.decode(names) == ["a", "b"]


def test_what_a_visitor_does_has_the_same_mark_only_where_it_is_the_same() -> None:
    items = [
        Item("e", query, DAY, (doc,), (0.0,), clicks, "v")
        for query in ("q1", "q2", "q3")
        for doc, clicks in (("a", 1), ("b", 1), ("c", 1), ("a", 0))
    ]
    marks = packed(items).args[1]
    first = [marks[at : at + 4] for at in range(0, len(marks), 8)]
    assert all(one != other for one, other in combinations(first, 2))
    again = packed([msgspec.structs.replace(item, event="x", timestamp=0.0) for item in items])
    assert again.args[1] == marks
    other_page = packed([Item("e", "q1", DAY, ("z",), (0.0,), 0, "v")])
    assert other_page.args[1][:4] == first[3]  # a query's page is its page, whatever is on it
