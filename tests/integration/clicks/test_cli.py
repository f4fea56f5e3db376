"""`trifuse clicks load`, `show` and `rebuild`, as one types them; every query is public."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from typer.testing import CliRunner, Result

from trifuse.deploy.cli.app import app, main
from trifuse.encoder.errors import TrifuseError
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.keys import queries_key

Run = Callable[..., Result]
LINES = [
    {"query": "Asthma?", "doc_id": "d1", "timestamp": "2026-01-01T00:00:00Z", "position": 1},
    {"query": "asthma", "doc_id": "d1", "timestamp": "2026-01-02T00:00:00Z"},
    {"query": "asthma", "doc_id": "d2", "timestamp": "2026-01-02T00:00:00Z"},
    {"query": "copd", "doc_id": "d3", "timestamp": "2026-01-03T00:00:00Z"},
]


@pytest.fixture
def run(services: Any, index: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the index; the broker is one that no worker listens to."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TRIFUSE_CLICKS_MIN_VISITORS", "1")

    def call(command: str, *args: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, ["clicks", command, *args, "--index", index], input=stdin)

    return call


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_load_show_rebuild(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "clicks.jsonl"
    log.write_text(lines(*LINES))
    loaded = run("load", str(log), "--json")
    assert loaded.exit_code == 0, loaded.output
    assert json.loads(loaded.stdout) == {
        "read": 4,
        "counted": 4,
        "rejected": {},
        "queries": 2,
        "pairs": 3,
        "impressions": 0,
        "ignored": 0,
        "rejected_first": {},
        "dead_letter": None,
        "unknown_fields": {},
    }
    again = run("load", str(log), "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["rejected"] == {"duplicate event": 4}

    shown = json.loads(run("show", "--json").stdout)
    assert shown["queries"] == [
        {"query": "asthma", "clicks": 3, "documents": 2},
        {"query": "copd", "clicks": 1, "documents": 1},
    ]
    documents = json.loads(run("show", "--query", "ASTHMA", "--json").stdout)["documents"]
    assert [document["id"] for document in documents] == ["d1", "d2"]
    # one click more, a day older: 1 + 2^(-1/90)
    assert documents[0]["clicks"] / documents[1]["clicks"] == pytest.approx(1 + 2 ** (-1 / 90), rel=1e-6)

    rebuilt = run("rebuild", "--json")
    assert rebuilt.exit_code == 0, rebuilt.output
    expected = {"queries": 2, "pairs": 3, "clicks": 4, "removed": 0, "unsettled": 0}
    assert json.loads(rebuilt.stdout) == expected
    assert json.loads(run("show", "--json").stdout) == shown


def test_tables_for_people(run: Run) -> None:
    assert "no query" in run("show").stdout
    assert "'copd'" in run("show", "--query", "copd").stdout
    loaded = run("load", "-", stdin=lines(*LINES, {"query": "asthma", "doc_id": "gone"}))
    assert loaded.exit_code == 1
    assert "read 5: 4 counted, 0 known already or over a visitor's cap, 1 rejected" in loaded.stdout
    assert "unknown document: 1, first at standard input:5" in loaded.stdout
    assert "--report FILE" in loaded.stdout
    again = run("load", "-", stdin=lines(*LINES))
    assert again.exit_code == 0
    assert "read 4: 0 counted, 4 known already or over a visitor's cap, 0 rejected" in again.stdout
    assert "asthma" in run("show").stdout
    assert "d2" in run("show", "--query", "asthma").stdout
    assert "2 queries, 3 pairs of query and document, 4 clicks" in run("rebuild").stdout


REJECTED = [
    {"query": "asthma", "doc_id": "gone", "event_id": "e1"},
    {"query": "asthma", "doc_id": "d1", "timestamp": "soon"},
    {"query": " ", "doc_id": "d1"},
    {"query": "copd", "doc_id": "gone too"},
]


def test_where_each_reason_was_met_first_and_all_of_them_in_a_file(run: Run, tmp_path: Path) -> None:
    log, report = tmp_path / "clicks.jsonl", tmp_path / "report.json"
    log.write_text(lines(LINES[0], *REJECTED) + "{broken\n" + lines(LINES[1]))
    loaded = run("load", str(log), "--report", str(report), "--json")
    assert loaded.exit_code == 1
    told = json.loads(loaded.stdout)
    assert told["counted"] == 2
    assert told["rejected"] == {
        "unreadable timestamp": 1,
        "no query text": 1,
        "not an event": 1,
        "unknown document": 2,
    }
    assert told["rejected_first"] == {
        "unreadable timestamp": f"{log}:3",
        "no query text": f"{log}:4",
        "not an event": f"{log}:6",
        "unknown document": f"{log}:2",
    }
    assert json.loads(report.read_text()) == told
    rejected = tmp_path / "report.rejected.ndjson"
    assert told["dead_letter"] == str(rejected)
    written = [json.loads(line) for line in rejected.read_text().splitlines()]
    assert sorted(written, key=lambda found: found["place"]) == [
        {"place": f"{log}:2", "reason": "unknown document", "id": "e1", "record": REJECTED[0]},
        {"place": f"{log}:3", "reason": "unreadable timestamp", "id": None, "record": REJECTED[1]},
        {"place": f"{log}:4", "reason": "no query text", "id": None, "record": REJECTED[2]},
        {"place": f"{log}:5", "reason": "unknown document", "id": None, "record": REJECTED[3]},
        {"place": f"{log}:6", "reason": "not an event", "id": None, "record": "{broken"},
    ]
    assert f"all are in {rejected}" in run("load", str(log), "--report", str(report)).stdout
    log.write_text(lines(LINES[0]))
    assert run("load", str(log), "--report", str(report)).exit_code == 0
    assert json.loads(report.read_text())["dead_letter"] is None
    assert not rejected.exists()


def test_files_that_gave_nothing_are_named(run: Run, tmp_path: Path) -> None:
    log, other = tmp_path / "clicks.jsonl", tmp_path / "logs" / "notes.txt"
    log.write_text(lines(*LINES))
    other.parent.mkdir()
    other.write_text("what was logged\n")
    loaded = run("load", str(log), str(other.parent))
    assert loaded.exit_code == 0, loaded.output
    assert f"passed over: nothing of the format jsonl is in {other}" in loaded.stderr
    assert "4 counted" in loaded.stdout


def test_nothing_read_is_status_1_and_says_what_was_expected(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "clicks.jsonl"
    log.write_text(lines(*LINES))
    for path in (log, tmp_path):
        nothing = run("load", str(path), "--format", "ubi", "--json")
        assert nothing.exit_code == 1
        assert json.loads(nothing.stdout)["read"] == 0
        assert f"passed over: nothing of the format ubi is in {log}" in nothing.stderr
        assert "nothing was read: there is nothing of the format ubi. Expected UBI's" in nothing.stderr


def test_fields_of_lines_that_mean_nothing_are_said(run: Run) -> None:
    typos = [
        {"query": "asthma", "doc_id": "d1", "usr": "u1", "position": 0},
        {"query": "asthma", "doc_id": "d2", "usr": "u2", "[/bold]\x1b[2J": 1},
    ]
    loaded = run("load", "-", stdin=lines(*typos))
    assert loaded.exit_code == 0, loaded.output
    assert "unknown field usr: in 2 records" in loaded.stdout
    assert "unknown field [/bold]\N{REPLACEMENT CHARACTER}[2J: in 1 records" in loaded.stdout
    assert "position that is no whole number from 1: in 1 records" in loaded.stdout
    again = json.loads(run("load", "-", "--json", stdin=lines(*typos)).stdout)
    assert again["unknown_fields"] == {"usr": 2, "[/bold]\x1b[2J": 1, "position": 1}


def test_clicks_that_count_once_are_no_fault(run: Run) -> None:
    twice = [{"query": "asthma", "doc_id": "d1", "session": "s", "event_id": f"e{n}"} for n in range(2)]
    loaded = run("load", "-", stdin=lines(*twice))
    assert loaded.exit_code == 0
    assert "1 counted, 1 known already or over a visitor's cap, 0 rejected" in loaded.stdout


def test_a_report_over_the_log_itself_or_nowhere_is_refused(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "clicks.jsonl"
    log.write_text(lines(*LINES))
    assert run("load", str(log), "--report", str(log)).exit_code == 2
    rejected = tmp_path / "clicks.rejected.ndjson"
    rejected.write_text(lines(*LINES))
    assert run("load", str(rejected), "--report", str(tmp_path / "clicks.json")).exit_code == 2
    assert log.read_text() == rejected.read_text() == lines(*LINES)
    nowhere = run("load", str(log), "--report", str(tmp_path / "no" / "x"))
    assert nowhere.exit_code == 2  # as with `trifuse load`
    assert "can't write into" in nowhere.stderr


def test_a_file_that_breaks_off_counts_what_stands_before(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "clicks.json"
    log.write_text("[" + ",".join(json.dumps(record) for record in LINES[:3]) + ', {"query": "co')
    loaded = run("load", str(log), "--json")
    assert loaded.exit_code == 1
    assert json.loads(loaded.stdout)["counted"] == 3
    assert "can't be read to its end" in loaded.stderr
    report = tmp_path / "report.json"
    run("load", str(log), "--report", str(report))
    assert json.loads(report.read_text())["rejected"] == {"duplicate event": 3}


def test_wrong_usage_ends_with_2(run: Run, tmp_path: Path) -> None:
    assert run("load", str(tmp_path / "absent")).exit_code == 2
    (tmp_path / "x").write_text(lines(*LINES))
    assert run("load", str(tmp_path / "x"), "--format", "csv").exit_code == 2
    assert CliRunner().invoke(app, ["clicks", "load", str(tmp_path / "x")]).exit_code == 2
    for command in ("load", "show", "rebuild"):
        files = [str(tmp_path / "x")] if command == "load" else []
        assert CliRunner().invoke(app, ["clicks", command, *files, "--index", "trials*"]).exit_code == 2


def test_no_click_store_is_said_before_anything_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    (tmp_path / "x").write_text(lines(*LINES))
    result = run("load", str(tmp_path / "x"))
    assert isinstance(result.exception, TrifuseError)
    assert "start Redis" in str(result.exception)


def test_a_key_that_something_else_wrote_is_said(
    run: Run,
    redis_client: Redis,
    index: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    redis_client.set(queries_key(index, HALF_LIFE_DAYS), "x")
    monkeypatch.setattr("sys.argv", ["trifuse", "clicks", "show", "--index", index])
    with pytest.raises(SystemExit, match="1"):
        main()
    assert "trifuse: Redis refused: WRONGTYPE" in capsys.readouterr().err


def test_an_evicting_click_store_is_warned_of_and_used(
    run: Run, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shared store isn't made to evict: it only says that it does."""
    monkeypatch.setattr(Redis, "info", lambda *_: {"maxmemory_policy": "allkeys-lru"})
    loaded = run("load", "-", stdin=lines(*LINES))
    assert loaded.exit_code == 0
    assert loaded.stderr.count("maxmemory-policy is 'allkeys-lru'") == 1
    assert "clicks rebuild" in loaded.stderr
    assert "4 counted" in loaded.stdout


@pytest.mark.parametrize("command", ["load", "show", "rebuild", "sessions", "positions", "forget"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = CliRunner().invoke(app, ["clicks", command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "--index trials" in result.stdout
