"""What a load says of itself."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trifuse.indexer.readers import Rejection
from trifuse.indexer.report import DeadLetters, FieldCounts, LoadReport


def test_the_keys_that_others_rely_on() -> None:
    report = LoadReport(index="i", read=1, rejected=[Rejection("f.json", 3, None, "no study")])
    value = msgspec.to_builtins(report)
    assert {"read", "indexed", "unchanged", "rejected", "truncated", "unknown_fields"} <= set(value)
    assert value["rejected"] == [{"source": "f.json", "line": 3, "id": None, "reason": "no study"}]


def test_dead_letters_are_one_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "rejected.ndjson"
    dead = DeadLetters(path)
    assert not path.exists()
    assert dead.write(Rejection("f.json", 3, None, "no study")) == str(path)
    dead.write(Rejection("f.json", 4, "NCT1", "refused"), {"nct_id": "NCT1"})
    assert [msgspec.json.decode(line) for line in path.read_bytes().splitlines()] == [
        {"source": "f.json", "line": 3, "id": None, "reason": "no study"},
        {"source": "f.json", "line": 4, "id": "NCT1", "reason": "refused", "record": {"nct_id": "NCT1"}},
    ]


def test_dead_letters_of_an_earlier_load_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "rejected.ndjson"
    path.write_text("old\n")
    DeadLetters(path)
    assert not path.exists()


def test_without_a_file_nothing_is_written() -> None:
    assert DeadLetters(None).write(Rejection("f.json", 3, None, "no study")) is None


def test_t5_unknown_and_filled_fields_are_counted() -> None:
    fields = FieldCounts()
    fields.add({"a": "x", "b": None, "c": [], "d": 0, "e": False}, ("newModule",))
    fields.add({"a": None, "b": None, "c": [], "d": None, "e": None}, ("newModule", "other"))
    assert fields.records == 2
    assert fields.filled == {"a", "d", "e"}
    assert fields.unknown == {"newModule": 2, "other": 1}
