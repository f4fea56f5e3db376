"""Logs of every kind, read into events."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.notes import Notes
from trifuse.worker.clicks.reading import read_clicks, read_log
from trifuse.worker.clicks.records import MAX_LINE

NOON = 1772366400.0  # 2026-03-01T12:00:00Z

UBI_QUERY = {
    "application": "search",
    "query_id": "q1",
    "client_id": "c1",
    "user_query": "Asthma",
    "query_response_id": "r1",
    "query_response_hit_ids": ["a", "b"],
    "timestamp": "2026-03-01T12:00:00Z",
}
UBI_CLICK: dict[str, Any] = {
    "action_name": "click",
    "query_id": "q1",
    "client_id": "c1",
    "session_id": "s1",
    "timestamp": "2026-03-01T12:00:00Z",
    "message_type": "CLICK",
    "event_attributes": {
        "object": {"object_id": "b", "object_id_field": "_id"},
        "position": {"ordinal": 2},
    },
}
PAGE = ClickEvent(
    query="Asthma", query_id="q1", kind="impression", timestamp=NOON, user="c1", shown=("a", "b")
)
CLICK = ClickEvent(
    query="Asthma", query_id="q1", doc_id="b", timestamp=NOON, position=2, session="s1", user="c1"
)


def write(path: Path, *values: object) -> str:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def read(*paths: str | Path, format: str = "auto") -> list[ClickEvent | Fault]:
    return list(read_clicks(paths, format))


def ubi(tmp_path: Path, **change: Any) -> ClickEvent | Fault:
    return read(write(tmp_path / "ubi", UBI_QUERY, UBI_CLICK | change))[1]


# --- UBI ---


def test_ubi_queries_and_events_in_one_file_or_two_in_any_order(tmp_path: Path) -> None:
    one = write(tmp_path / "one", UBI_CLICK, UBI_QUERY)
    queries, events = write(tmp_path / "queries", UBI_QUERY), write(tmp_path / "events", UBI_CLICK)
    assert read(one) == [CLICK, PAGE]
    assert read(queries, events) == [PAGE, CLICK]
    assert read(events, queries) == [CLICK, PAGE]


def test_ubi_as_a_bulk_export_keeps_the_ids(tmp_path: Path) -> None:
    with_id = msgspec.structs.replace(CLICK, event_id="e7")
    dumped = write(
        tmp_path / "dump",
        {"_index": "ubi_queries", "_id": "x", "_source": UBI_QUERY},
        {"_index": "ubi_events", "_id": "e7", "_score": 1, "_source": UBI_CLICK},
    )
    bulk = write(
        tmp_path / "bulk",
        {"index": {"_index": "ubi_queries", "_id": "x"}},
        UBI_QUERY,
        {"create": {"_index": "ubi_events", "_id": "e7"}},
        UBI_CLICK,
    )
    assert read(dumped) == read(bulk) == [PAGE, with_id]


@pytest.mark.parametrize("action", ["click_through", "item_click", "Item-Click"])
def test_ubi_spellings_of_a_click(tmp_path: Path, action: str) -> None:
    assert ubi(tmp_path, action_name=action) == CLICK


@pytest.mark.parametrize("action", ["add_to_cart", "purchase", "on_search", "scroll", None, ["click"], {}])
def test_ubi_other_actions_are_ignored(tmp_path: Path, action: object) -> None:
    assert ubi(tmp_path, action_name=action) == Fault(None)


def test_ubi_impressions_of_one_document(tmp_path: Path) -> None:
    event = ubi(tmp_path, action_name="impression")
    assert isinstance(event, ClickEvent)
    assert (event.kind, event.doc_id, event.position) == ("impression", "b", 2)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"object": {"object_id": 17}, "position": {"ordinal": {"index": 3}}}, ("17", 3)),
        ({"object": {"object_id": "isbn", "internal_id": "b", "object_id_field": "isbn"}}, ("b", None)),
        ({"object": {"object_id": "b", "internal_id": "77", "object_id_field": ""}}, ("b", None)),
        ({"object": {"internal_id": "77"}, "position": {"ordinal": 0}}, ("77", None)),
        ({"position": {"xy": {"x": 1, "y": 2}}}, (None, None)),
        ("odd", (None, None)),
        (None, (None, None)),
    ],
)
def test_ubi_documents_and_positions(
    tmp_path: Path, attributes: object, expected: tuple[str | None, int | None]
) -> None:
    event = ubi(tmp_path, event_attributes=attributes)
    assert isinstance(event, ClickEvent)
    assert (event.doc_id, event.position) == expected


def test_ubi_flattened_keys(tmp_path: Path) -> None:
    flat = {k: v for k, v in UBI_CLICK.items() if k != "event_attributes"}
    flat |= {"event_attributes.object.object_id": "b", "event_attributes.position.ordinal": 2}
    assert read(write(tmp_path / "flat", UBI_QUERY, flat))[1] == CLICK


def test_c5_ubi_without_a_query_id_or_with_an_unknown_one(tmp_path: Path) -> None:
    assert ubi(tmp_path, query_id=None) == Fault(checks.NO_QUERY_ID)
    unknown = ubi(tmp_path, query_id="q2")
    assert isinstance(unknown, ClickEvent)
    assert (unknown.query, checks.fault(unknown, NOON)) == (None, checks.UNKNOWN_QUERY_ID)


def test_c5_ubi_unreadable_time(tmp_path: Path) -> None:
    assert ubi(tmp_path, timestamp="soon") == Fault(checks.BAD_TIME)


@pytest.mark.parametrize("query", [None, 3, ["asthma"]])
def test_c5_ubi_query_null(tmp_path: Path, query: object) -> None:
    page, click = read(write(tmp_path / "ubi", UBI_QUERY | {"user_query": query}, UBI_CLICK))
    assert page == Fault(None)
    assert isinstance(click, ClickEvent)
    assert checks.fault(click, NOON) == checks.UNKNOWN_QUERY_ID


def test_ubi_queries_that_stand_in_the_message_of_a_search(tmp_path: Path) -> None:
    search = {"action_name": "on_search", "query_id": "q1", "message_type": "QUERY", "message": "Asthma"}
    assert read(write(tmp_path / "events", UBI_CLICK, search)) == [CLICK, Fault(None)]


# --- MedCPT ---

MEDCPT = [
    {"qid": "0", "pmid": "11", "click": 1},
    {"qid": "1", "pmid": "12", "click": 3},
    {"qid": "1", "pmid": "13", "click": 0},
    {"qid": "9", "pmid": "14", "click": 1},
    {"qid": None, "pmid": "15", "click": 1},
    {"qid": "0", "pmid": "16", "click": "many"},
]
MEDCPT_EVENTS = [
    ClickEvent(query="What is asthma?", doc_id="11"),
    ClickEvent(query="How is copd treated?", doc_id="12", count=3),
    Fault(None),
    Fault(checks.UNKNOWN_QUERY_ID),
    Fault(checks.NO_QUERY_ID),
    Fault(checks.NOT_AN_EVENT),
]
QUERIES = {"0": "What is asthma?", "1": "How is copd treated?"}


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("end", ["", "\n"])
def test_medcpt_as_two_files_or_a_folder(tmp_path: Path, indent: int | None, end: str) -> None:
    train = write(tmp_path / "train.jsonl", *MEDCPT)
    info = tmp_path / "qid2info.json"
    info.write_text(json.dumps(QUERIES, indent=indent) + end)
    (tmp_path / "pmid2info.json").write_text(json.dumps({"0": ["a title", "an abstract"]}, indent=indent))
    assert [e for e in read(train, info) if e != Fault(None)] == [
        e for e in MEDCPT_EVENTS if e != Fault(None)
    ]
    clicks = [event for event in read(tmp_path) if isinstance(event, ClickEvent)]
    assert clicks == MEDCPT_EVENTS[:2]


def test_other_files_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "MedCPT's log", "in two files")
    (tmp_path / "notes.bin").write_bytes(b"\x00\xff\n")
    write(tmp_path / "train.jsonl", *MEDCPT)
    (tmp_path / "qid2info.json").write_text(json.dumps(QUERIES))
    assert [event for event in read(tmp_path) if event != Fault(None)] == [
        event for event in MEDCPT_EVENTS if event != Fault(None)
    ]


def test_medcpt_queries_larger_than_one_look(tmp_path: Path) -> None:
    many = {str(i): f"query number {i}" for i in range(5000)}
    info = tmp_path / "qid2info.json"
    info.write_text(json.dumps(many))
    train = write(tmp_path / "train.jsonl", {"qid": "4999", "pmid": "1", "click": 1})
    assert ClickEvent(query="query number 4999", doc_id="1") in read(train, info)


# --- JSON lines ---


def test_jsonl(tmp_path: Path) -> None:
    path = write(
        tmp_path / "clicks.jsonl",
        {"query": "asthma", "doc_id": "a"},
        {
            "query": "asthma",
            "doc_id": 7,
            "timestamp": 1356998400,
            "event_id": "e1",
            "query_id": 5,
            "session": "s",
            "user": "u",
            "position": 3,
            "count": 2,
        },
        {"query": "asthma", "doc_id": None, "kind": "impression", "shown": ["a", 7, None]},
        {"query": "asthma", "doc_id": "a", "kind": "hover"},
        {"query": ["asthma"], "doc_id": "a"},
        {"query": "asthma", "doc_id": "a", "count": "2"},
        {"query": "asthma", "doc_id": "a", "timestamp": {}},
        {"query": None, "doc_id": "a"},
    )
    assert read(path) == [
        ClickEvent(query="asthma", doc_id="a"),
        ClickEvent(
            query="asthma",
            doc_id="7",
            timestamp=1356998400.0,
            event_id="e1",
            query_id="5",
            session="s",
            user="u",
            position=3,
            count=2,
        ),
        ClickEvent(query="asthma", kind="impression", shown=("a", "7")),
        Fault(None),
        Fault(checks.NOT_AN_EVENT),
        Fault(checks.NOT_AN_EVENT),
        Fault(checks.BAD_TIME),
        ClickEvent(doc_id="a"),
    ]


def test_jsonl_the_page_says_where_a_click_was_unless_the_line_does(tmp_path: Path) -> None:
    page: dict[str, Any] = {"query": "asthma", "shown": ["a", "b", "c"]}
    lines = (
        page | {"doc_id": "c"},
        page | {"doc_id": "c", "position": 13},
        page | {"doc_id": "x"},
        page | {"kind": "impression"},
    )
    events = read(write(tmp_path / "x", *lines))
    assert [event.position for event in events if isinstance(event, ClickEvent)] == [3, 13, None, None]


def test_jsonl_pages_alone_are_recognised(tmp_path: Path) -> None:
    page = {"query": "asthma", "query_id": "q", "kind": "impression", "shown": ["a"]}
    assert read(write(tmp_path / "x", page)) == [
        ClickEvent(query="asthma", query_id="q", kind="impression", shown=("a",))
    ]


def test_lines_that_are_no_objects_are_faults_and_the_rest_is_read(tmp_path: Path) -> None:
    good = {"query": "asthma", "doc_id": "a"}
    half = '{"query": "half \\ud800", "doc_id": "a"}'
    path = write(tmp_path / "x", good, "{broken", "3", '"text"', "", "null", half, '{"query": NaN}', good)
    events = read(path)
    assert events[0] == events[-1] == ClickEvent(query="asthma", doc_id="a")
    assert events[1:-1] == [Fault(checks.NOT_AN_EVENT)] * 6


def test_a_line_nested_too_deeply_is_a_fault(tmp_path: Path) -> None:
    good = {"query": "asthma", "doc_id": "a"}
    deep = '{"query": "asthma", "doc_id": ' + "[" * 3000
    path = write(tmp_path / "x", good, deep, "[" * 3000, good)
    assert read(path) == [
        ClickEvent(query="asthma", doc_id="a"),
        Fault(checks.NOT_AN_EVENT),
        Fault(checks.NOT_AN_EVENT),
        ClickEvent(query="asthma", doc_id="a"),
    ]
    first = write(tmp_path / "y", deep, good)
    assert read(first) == [Fault(checks.NOT_AN_EVENT), ClickEvent(query="asthma", doc_id="a")]


def test_a_line_longer_than_any_event_is_a_fault(tmp_path: Path) -> None:
    good = {"query": "asthma", "doc_id": "a"}
    path = write(tmp_path / "x", good, {"query": "x" * MAX_LINE, "doc_id": "a"}, good)
    assert read(path) == [
        ClickEvent(query="asthma", doc_id="a"),
        Fault(checks.NOT_AN_EVENT),
        ClickEvent(query="asthma", doc_id="a"),
    ]


def test_what_is_nested_without_end_is_refused_and_takes_no_memory(tmp_path: Path) -> None:
    good = '{"query": "asthma", "doc_id": "a"}'
    deep = '{"query": "asthma", "doc_id": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    lines = write(tmp_path / "lines", good, deep, good)
    assert read(lines) == [
        ClickEvent(query="asthma", doc_id="a"),
        Fault(checks.NOT_AN_EVENT),
        ClickEvent(query="asthma", doc_id="a"),
    ]
    (tmp_path / "array").write_text(f"[{good}, {deep}]")
    events = read_clicks([tmp_path / "array"])
    assert next(events) == ClickEvent(query="asthma", doc_id="a")
    with pytest.raises(UnreadableLog, match="nested deeper than 100 levels"):
        next(events)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[{"query": "asthma", "doc_id": "a"}, {"query": "', '", "doc_id": "a"}]'),
        ('[{"query": "asthma", "doc_id": "a"}, {"query": "b", "doc_id": "a", "x": [1', ", 1]}]"),
    ],
)
def test_a_record_of_an_array_has_a_length_that_ends(tmp_path: Path, before: str, after: str) -> None:
    filler = ", 1" if after.startswith(",") else "x"
    (tmp_path / "array").write_text(before + filler * (2 * MAX_LINE // len(filler)) + after)
    events = read_clicks([tmp_path / "array"])
    assert next(events) == ClickEvent(query="asthma", doc_id="a")
    with pytest.raises(UnreadableLog, match="a record is longer than 4 MiB"):
        next(events)


def test_a_map_that_opens_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text('{"1": ' + "[" * 100_000)
    with pytest.raises(UnreadableLog, match="nested deeper than 100 levels"):
        read(tmp_path / "deep")
    (tmp_path / "long").write_text('{"1": "' + "x" * 2 * MAX_LINE)
    with pytest.raises(UnreadableLog, match="a record is longer than 4 MiB"):
        read(tmp_path / "long")


def test_an_array_longer_than_a_record_is_read(tmp_path: Path) -> None:
    record = json.dumps({"query": "x" * 1000, "doc_id": "a"})
    number = 2 * MAX_LINE // len(record)
    (tmp_path / "array").write_text("[" + ",".join([record] * number) + "]")
    assert len(read(tmp_path / "array")) == number


def test_one_event_without_a_line_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"query": "asthma", "doc_id": "a"}')
    assert read(tmp_path / "x") == [ClickEvent(query="asthma", doc_id="a")]


# --- files ---


def until_broken(*paths: Path) -> list[ClickEvent | Fault]:
    """What is read before the error that a file is broken."""
    events: list[ClickEvent | Fault] = []
    with pytest.raises(UnreadableLog, match=r"\.gz can't be read to its end"):
        events.extend(read_clicks(paths))
    return events


def test_gzip_a_byte_order_mark_and_standard_input(tmp_path: Path) -> None:
    line = b'\xef\xbb\xbf{"query": "asthma", "doc_id": "a"}\r\n'
    (tmp_path / "x").write_bytes(line)
    (tmp_path / "x.gz").write_bytes(gzip.compress(line))
    expected = [ClickEvent(query="asthma", doc_id="a")]
    assert read(tmp_path / "x") == read(tmp_path / "x.gz") == expected
    assert list(read_clicks(["-"], stdin=io.BytesIO(gzip.compress(line)))) == expected


def test_a_gzip_file_cut_in_the_middle_is_an_error_after_what_stands_before(tmp_path: Path) -> None:
    lines = b"".join(b'{"query": "asthma %d", "doc_id": "a"}\n' % i for i in range(20_000))
    (tmp_path / "x.gz").write_bytes(gzip.compress(lines)[:-5000])
    events = read_clicks([tmp_path / "x.gz"])
    assert next(events) == ClickEvent(query="asthma 0", doc_id="a")
    with pytest.raises(UnreadableLog, match=r"x\.gz can't be read to its end"):
        list(events)


def test_a_short_gzip_file_that_is_cut_or_has_a_tail(tmp_path: Path) -> None:
    """All of it is within what is looked at to recognise it."""
    lines = b"".join(b'{"query": "asthma %d", "doc_id": "a"}\n' % i for i in range(300))
    packed = gzip.compress(lines)
    (tmp_path / "cut.gz").write_bytes(packed[:-100])
    (tmp_path / "tail.gz").write_bytes(packed + b"garbage")
    for name, least in (("cut.gz", 100), ("tail.gz", 300)):
        events = until_broken(tmp_path / name)
        assert len(events) >= least
        assert events[0] == ClickEvent(query="asthma 0", doc_id="a")


def test_what_stands_beside_a_broken_file_is_read(tmp_path: Path) -> None:
    write(tmp_path / "day1", {"query": "asthma", "doc_id": "a"})
    (tmp_path / "day2.gz").write_bytes(gzip.compress(b"x" * 100)[:15])
    write(tmp_path / "day3", {"query": "copd", "doc_id": "b"})
    for paths in ([tmp_path], sorted(tmp_path.iterdir())[::-1]):
        events = until_broken(*paths)
        assert {event.doc_id for event in events if isinstance(event, ClickEvent)} == {"a", "b"}


@pytest.mark.parametrize("content", ["", "\n\n", "hello world\n", '{"a": 1}\n', "[1, 2]", "{\n"])
def test_what_is_no_click_log_is_an_error_that_lists_the_kinds(tmp_path: Path, content: str) -> None:
    (tmp_path / "x").write_text(content)
    with pytest.raises(UnreadableLog, match=r"UBI.*MedCPT.*TripClick.*JSON lines|can't be read"):
        read(tmp_path / "x")


def test_a_named_kind_is_taken_at_its_word(tmp_path: Path) -> None:
    path = write(tmp_path / "x", {"query": "asthma"})
    assert read(path, format="jsonl") == [ClickEvent(query="asthma")]
    assert read(path, format="medcpt") == [Fault(checks.NO_QUERY_ID)]
    (tmp_path / "empty").write_text("")
    assert read(tmp_path / "empty", format="ubi") == []


def test_missing_files_and_unknown_kinds(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match="no file or folder"):
        read(tmp_path / "absent")
    with pytest.raises(UnreadableLog, match="no format 'csv': expected auto, ubi, medcpt, tripclick, jsonl"):
        read(write(tmp_path / "x", UBI_CLICK), format="csv")


def test_files_that_hold_nothing_of_the_format_are_noted(tmp_path: Path) -> None:
    (tmp_path / "ubi").mkdir()
    queries = write(tmp_path / "ubi" / "queries.ndjson", UBI_QUERY)
    write(tmp_path / "ubi" / "README.md", "UBI's log")
    lines = write(tmp_path / "lines.jsonl", {"query": "asthma", "doc_id": "a"})
    readme = str(tmp_path / "ubi" / "README.md")
    for paths, format, holding, passed_over in (
        ([lines, tmp_path / "ubi"], "jsonl", 1, [readme, queries]),
        ([tmp_path / "ubi", lines], "ubi", 1, [readme, lines]),
        ([queries], "ubi", 1, []),
    ):
        notes = Notes()
        list(read_log(paths, notes=notes))
        assert notes == Notes(format, holding, passed_over)
    notes = Notes()
    assert [found.item for found in read_log([lines], "ubi", notes=notes)] == [Fault(None)]
    assert notes == Notes("ubi", 0, [lines])


def test_what_lies_beside_a_log_of_its_kind_is_not_noted(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", *MEDCPT)
    (tmp_path / "qid2info.json").write_text(json.dumps(QUERIES))
    (tmp_path / "pmid2info.json").write_text(json.dumps({"1": ["title", "text"]}))
    notes = Notes()
    list(read_log([tmp_path], notes=notes))
    assert notes == Notes("medcpt", 2)


def test_jsonl_fields_that_nobody_knows_and_ranks_that_are_none_are_counted(tmp_path: Path) -> None:
    click = {"query": "asthma", "doc_id": "a"}
    path = write(
        tmp_path / "x",
        click | {"usr": "u", "position": 0},
        click | {"usr": "v", "position": "second"},
        click | {"position": 2, "session": "s", "user": "u", "event_id": "e", "count": 1, "kind": "click"},
        click | {"position": None, "shown": ["a"], "query_id": "q", "timestamp": 0, "_id": "e2"},
        {"usr": "no click: rejected as it is"},
    )
    notes = Notes()
    list(read_log([path], notes=notes))
    assert notes.unknown_fields == {"usr": 2, "position": 2}


def test_fields_are_noted_within_bounds() -> None:
    notes = Notes()
    notes.add_fields(str(number) for number in range(101))
    notes.add_fields(["0", "100"])
    assert len(notes.unknown_fields) == 100
    assert notes.unknown_fields["0"] == 2
    notes = Notes()
    notes.add_fields(["\ud800" * 101])
    assert notes.unknown_fields == {"?" * 100: 1}


@pytest.mark.data
def test_the_medcpt_log_is_read_whole(data_dir: Path) -> None:
    events = read(data_dir / "medcpt_bioasq_log")
    clicks = [event for event in events if isinstance(event, ClickEvent)]
    assert len(clicks) == 42_518
    assert len({event.query for event in clicks}) <= 4_719
    assert not [event for event in events if isinstance(event, Fault) and event.reason]
