"""Where in a log each event stands, and what is kept of those that were rejected."""

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
from trifuse.worker.clicks.errors import UnwritableReport
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.placed import Placed
from trifuse.worker.clicks.reading import read_log
from trifuse.worker.clicks.records import MAX_LINE
from trifuse.worker.clicks.rejections import Rejections

GOOD = '{"query": "asthma", "doc_id": "a"}\n'
ASTHMA = ClickEvent(query="asthma", doc_id="a")


def placed(path: Path, content: str | bytes, **options: Any) -> list[tuple[str, bool, Any]]:
    """Place, whether it is an event, and the record of everything that a file holds."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [
        (found.place.removeprefix(str(path)), isinstance(found.item, ClickEvent), found.record)
        for found in read_log([path], **options)
    ]


def test_lines_are_counted_as_editors_do(tmp_path: Path) -> None:
    record = {"query": "asthma", "doc_id": "a"}
    expected = [
        (":1", True, record),
        (":2", False, "{broken"),
        (":4", True, record),
        (":5", False, "3"),
    ]
    content = f"{GOOD}{{broken\n\n{GOOD}3\n"
    assert placed(tmp_path / "x", content) == expected
    assert placed(tmp_path / "x.gz", gzip.compress(content.encode())) == expected


def test_a_line_that_is_too_long_is_shown_by_its_beginning(tmp_path: Path) -> None:
    long = '{"query": "' + "x" * MAX_LINE + '", "doc_id": "a"}\n'
    first, second, third = placed(tmp_path / "x", GOOD + long + GOOD)
    assert (first[0], second[0], third[0]) == (":1", ":2", ":3")
    assert second[2] == '{"query": "' + "x" * 1989


def test_the_objects_of_an_array_are_counted(tmp_path: Path) -> None:
    found = placed(tmp_path / "x", f"[{GOOD},\n\n{GOOD}, 3]")
    assert [place for place, _, _ in found] == [":record 1", ":record 2", ":record 3"]
    assert found[2] == (":record 3", False, "3")


def test_a_bulk_export_names_the_line_of_the_document(tmp_path: Path) -> None:
    found = placed(tmp_path / "x", f'{{"index": {{"_id": "e1"}}}}\n{GOOD}')
    assert found == [(":2", True, {"_id": "e1", "query": "asthma", "doc_id": "a"})]


def test_rows_and_their_lines(tmp_path: Path) -> None:
    found = placed(tmp_path / "x", "1\tasthma\n1 0 10 1\n\n1 0 11 x\n", format="tripclick")
    assert found == [(":2", True, ["1", "0", "10", "1"]), (":4", False, ["1", "0", "11", "x"])]


def test_standard_input_has_a_name(tmp_path: Path) -> None:
    (found,) = read_log(["-"], stdin=io.BytesIO(GOOD.encode()))
    assert found == Placed(ASTHMA, "standard input:1", {"query": "asthma", "doc_id": "a"})


# --- what was rejected ---


def test_the_first_place_of_each_reason() -> None:
    rejected = Rejections()
    rejected(Placed(ASTHMA, "x:3"), checks.UNKNOWN_DOCUMENT)
    rejected(Placed(ASTHMA, "x:7"), checks.UNKNOWN_DOCUMENT)
    rejected(Placed(Fault(checks.NOT_AN_EVENT), "x:5"), checks.NOT_AN_EVENT)
    rejected(ASTHMA, checks.NO_QUERY)  # a live event
    assert rejected.first == {checks.UNKNOWN_DOCUMENT: "x:3", checks.NOT_AN_EVENT: "x:5"}


def test_every_rejected_record_is_a_line_of_json(tmp_path: Path) -> None:
    path = tmp_path / "rejected.ndjson"
    named = msgspec.structs.replace(ASTHMA, event_id="e1")
    path.write_text("of an earlier load\n")
    with Rejections(path) as rejected:
        assert rejected.dead_letter is None
        rejected(Placed(named, "x:3", {"query": "asthma", "event_id": "e1"}), "unknown document")
        rejected(Placed(Fault(checks.BAD_TIME), "x:4", {"_id": 7, "timestamp": "soon"}), checks.BAD_TIME)
        rejected(Placed(Fault(checks.NOT_AN_EVENT), "x:5", "{broken"), checks.NOT_AN_EVENT)
        rejected(Placed(ASTHMA, "x:6", {"query": "half \ud800"}), checks.UNREADABLE)
        rejected(ASTHMA, "unknown document")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {
            "place": "x:3",
            "reason": "unknown document",
            "id": "e1",
            "record": {"query": "asthma", "event_id": "e1"},
        },
        {
            "place": "x:4",
            "reason": "unreadable timestamp",
            "id": "7",
            "record": {"_id": 7, "timestamp": "soon"},
        },
        {"place": "x:5", "reason": "not an event", "id": None, "record": "{broken"},
        {
            "place": "x:6",
            "reason": "unreadable characters",
            "id": None,
            "record": "{'query': 'half \\ud800'}",
        },
        {
            "place": None,
            "reason": "unknown document",
            "id": None,
            "record": {"query": "asthma", "doc_id": "a"},
        },
    ]


def test_nothing_rejected_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "rejected.ndjson"
    path.write_text("of an earlier load\n")
    with Rejections(path) as rejected:
        assert not path.exists()
    assert rejected.dead_letter is None


def test_a_file_that_cant_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnwritableReport, match="name another file"):
        Rejections(tmp_path)  # a folder
    with Rejections(tmp_path / "no" / "x") as rejected, pytest.raises(UnwritableReport, match="another file"):
        rejected(ASTHMA, "unknown document")


def test_a_disk_that_is_full_is_said(tmp_path: Path) -> None:
    with Rejections(tmp_path / "x") as rejected:
        (tmp_path / "x").symlink_to("/dev/full")
        with pytest.raises(UnwritableReport, match="make room"):
            rejected(Placed(ASTHMA, "x:1", {}), "unknown document")
