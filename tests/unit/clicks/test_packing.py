"""Batches as the counting script reads them."""

from __future__ import annotations

import struct
from itertools import combinations, permutations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.clicks.records import doc_hash, pack
from trifuse.worker.clicks.items import Item
from trifuse.worker.clicks.packing import event_mark, names_of, packed, records_of, visitor_mark

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


def numbers(column: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(column) // 4}I", column))


def test_a_batch_by_hand() -> None:
    batch = packed([CLICK, PAGE, STRANGER])
    columns, marks, records, visitors, *details = batch.args
    assert (batch.days, batch.queries) == ([1, 2], ["q1", "q2"])
    # Of the second day two visitors: one saw the page, one clicked. Of the first a stranger, who comes last.
    seen, clicked = sorted([visitor_mark("v1", page=True), visitor_mark("v1")], key=as_number)
    known = [0, 1] if clicked == visitor_mark("v1", page=True) else [1, 0]
    assert batch.order == [*known, 2]
    # Each visitor's day has one item; q1 has 1 + 4 clicks, in two records; the first day has a stranger's.
    assert msgspec.msgpack.decode(columns) == [[], [5, 0], [40, 80], [1, 0]]
    assert marks[8:] == event_mark("e3")
    assert len(marks) == 16
    assert records == records_of([CLICK, STRANGER, PAGE])
    eight = b"\xa8"
    assert visitors == b"\xdd\0\0\0\2" + b"\xdd\0\0\0\0" + b"\xdd\0\0\0\2" + eight + seen + eight + clicked
    at, queries, slots, clicks, ends, stops = map(numbers, details)
    assert at == [{0: 1, 1: 3}[known[0]], {0: 1, 1: 3}[known[1]], 2]  # sorted by query: click, stranger, page
    assert queries == [1, 1, 2]
    assert slots == [known.index(0) + 1, 0, known.index(1) + 1]
    assert clicks == [1, 4, 0]
    assert ends == [20, 40, 80]
    assert stops == [2, 3]
    assert names_of([CLICK, PAGE, STRANGER]) == {doc_hash("a"): "a", doc_hash("b"): "b"}


def test_a_visitors_items_of_a_day_stand_together_in_the_order_of_coming() -> None:
    items = [
        Item(f"e{n}", f"q{n % 3}", DAY * (n % 2), ("a",), (0.0,), 1, visitor)
        for n, visitor in enumerate(["v1", "v2", "v1", None, "v1", "v1", "", "v2"])
    ]
    batch = packed(items)
    assert batch.days == [0, 1]
    assert batch.order[-2:] == [6, 3]  # strangers, by day
    days = [[[0, 2, 4]], [[1, 7], [5]]]
    assert batch.order[:6] in [[0, 2, 4, *one, *two] for one, two in permutations(days[1])]
    lasts = msgspec.msgpack.decode(batch.args[0])[0]
    assert lasts in ([3, 5, 6], [3, 4, 6])
    assert msgspec.msgpack.decode(batch.args[0])[3] == [1, 1]


def marks_of(items: list[Item]) -> list[bytes]:
    """The 4 bytes that stand for what a visitor did, in the order of the items."""
    batch = packed(items)
    found = {place: batch.args[1][4 * n : 4 * n + 4] for n, place in enumerate(batch.order)}
    return [found[place] for place in range(len(items))]


def as_number(mark: bytes) -> int:
    return int.from_bytes(mark, "little")


def test_what_a_visitor_does_has_the_same_mark_only_where_it_is_the_same() -> None:
    items = [
        Item("e", query, DAY, (doc,), (0.0,), clicks, "v")
        for query in ("q1", "q2", "q3")
        for doc, clicks in (("a", 1), ("b", 1), ("c", 1), ("a", 0))
    ]
    first = marks_of(items)
    assert all(one != other for one, other in combinations(first, 2))
    again = [msgspec.structs.replace(item, event="x", timestamp=0.0) for item in items]
    assert marks_of(again) == first
    (other_page,) = marks_of([Item("e", "q1", DAY, ("z",), (0.0,), 0, "v")])
    assert other_page == first[3]  # a query's page is its page, whatever is on it
