"""`trifuse clicks sessions`, `positions` and `forget`, as one types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from typer.testing import CliRunner, Result

from trifuse.deploy.cli.app import app
from trifuse.encoder.errors import TrifuseError
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.worker.clicks.forgotten import remember
from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.positions import DEFAULT_CURVE

Run = Callable[..., Result]
WHEN = "2026-01-01T12:00:00Z"
LINES = [
    {"query": "asthma", "doc_id": "d1", "session": "spy", "timestamp": WHEN, "event_id": "e1"},
    {"query": "jane doe", "doc_id": "d2", "session": "spy", "timestamp": WHEN, "event_id": "e2"},
    {"query": "asthma", "doc_id": "d1", "user": "u1", "timestamp": WHEN, "event_id": "e3"},
    {"query": "asthma", "doc_id": "d3", "timestamp": "2026-02-01T12:00:00Z", "event_id": "e4"},
]


@pytest.fixture
def run(services: Any, index: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the index; every query is public."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TRIFUSE_CLICKS_MIN_VISITORS", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def call(command: str, *args: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, ["clicks", command, *args, "--index", index], input=stdin)

    return call


@pytest.fixture
def log(run: Run) -> str:
    """A log, loaded; its lines."""
    content = "".join(json.dumps(line) + "\n" for line in LINES)
    assert run("load", "-", stdin=content).exit_code == 0
    return content


def told(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# --- forget ---


def test_forget_says_what_it_did_in_numbers_alone(run: Run, log: str) -> None:
    forgotten = run("forget", "--session", "spy", "--yes", "--json")
    assert told(forgotten) == {"events": 2, "queries": 2, "rebuilt": 1, "removed": 1}
    assert "jane" not in forgotten.output
    assert told(run("show", "--json"))["queries"] == [{"query": "asthma", "clicks": 2, "documents": 2}]
    again = run("load", "-", "--json", stdin=log)
    assert told(again)["rejected"] == {"duplicate event": 2, "forgotten before": 2}
    assert told(run("forget", "--session", "spy", "--yes", "--json"))["events"] == 0


def test_events_taken_again_on_purpose_need_a_rebuild_and_the_command_says_so(
    run: Run, log: str, client: OpenSearch, index: str
) -> None:
    """`--query`: the spy's day is forgotten in part, so that its marks stand."""
    told(run("forget", "--query", "jane doe", "--yes", "--json"))
    line = json.dumps(LINES[1])
    out = run("load", "-", stdin=line)
    assert out.exit_code == 0
    assert (
        f"1 events were forgotten, and stay out. To take them again on purpose, delete the index "
        f"trifuse-forgotten-{index}" in out.stderr
    )
    client.indices.delete(index=f"trifuse-forgotten-{index}")
    marked = run("load", "-", "--json", stdin=line)
    assert told(marked)["rejected"] == {"clicked already by the same visitor that day": 1}
    assert f"trifuse clicks rebuild --index {index}" in marked.stderr
    assert "rebuild" not in run("load", "-", stdin=log).stderr  # all are known: nothing is amiss
    told(run("rebuild", "--json"))
    assert "jane doe" in {found["query"] for found in told(run("show", "--json"))["queries"]}


def test_forget_asks_and_takes_no_for_an_answer(run: Run, log: str) -> None:
    refused = run("forget", "--query", "Asthma", stdin="n\n")
    assert refused.exit_code == 1
    assert "Delete 3 events of 1 queries" in refused.stderr
    assert told(run("forget", "--query", "Asthma", "--dry-run", "--json"))["events"] == 3
    done = run("forget", "--query", "Asthma", stdin="y\n")
    assert done.exit_code == 0
    assert "3 events deleted, of 1 queries" in done.stdout
    assert "0 queries are counted anew; 1 had nothing left, and are gone" in done.stdout


@pytest.mark.parametrize("options", [[], ["--yes"], ["--dry-run"]])
def test_what_fits_nothing_is_said_and_nobody_is_asked(run: Run, log: str, options: list[str]) -> None:
    nothing = run("forget", "--query", "copd", *options, stdin="")
    assert nothing.exit_code == 0, nothing.output
    assert nothing.stdout == "no event of the click log fits: there is nothing to delete\n"
    zeros = {"events": 0, "queries": 0, "rebuilt": 0, "removed": 0}
    assert told(run("forget", "--query", "copd", *options, "--json", stdin="")) == zeros


def test_an_interrupted_run_is_gone_on_with_where_nothing_fits_any_more(
    run: Run, log: str, client: OpenSearch, index: str
) -> None:
    """As an end behind the deletion leaves it: the events are gone, what they touched is noted."""
    told(run("forget", "--session", "spy", "--yes", "--json"))
    key = query_id(normalize_query("jane doe"))
    remember(client, index, events=[], queries=[key], documents=[], at=0.0)
    refused = run("forget", "--session", "spy", stdin="n\n")
    assert refused.exit_code == 1
    assert "an earlier run was interrupted" in refused.stderr
    done = run("forget", "--session", "spy", stdin="y\n")
    assert done.exit_code == 0
    assert "0 events deleted, of 1 queries" in done.stdout
    assert "nothing to delete" in run("forget", "--session", "spy", stdin="").stdout


def test_a_dry_run_changes_nothing(run: Run, log: str) -> None:
    dry = run("forget", "--before", "2026-01-31", "--dry-run", "--json")
    assert told(dry) == {"events": 3, "queries": 2, "rebuilt": 0, "removed": 0}
    assert (
        "3 events would be deleted, of 2 queries"
        in run("forget", "--before", "2026-01-31", "--dry-run").stdout
    )
    assert told(run("forget", "--before", "2026-01-31", "--session", "spy", "--yes", "--json"))["events"] == 2


def test_what_to_forget_has_to_be_said(run: Run) -> None:
    assert run("forget", "--yes").exit_code == 2
    assert run("forget", "--yes", "--before", "last year").exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        ["load", "-"],
        ["show"],
        ["show", "--query", "asthma"],
        ["sessions"],
        ["positions"],
        ["positions", "--save"],
        ["rebuild"],
        ["forget", "--query", "asthma", "--dry-run"],
        ["forget", "--query", "asthma", "--yes"],
    ],
)
def test_an_index_that_isnt_there_is_said(
    run: Run, index: str, client: OpenSearch, command: list[str]
) -> None:
    absent = f"{index}-absent"
    line = json.dumps({"query": "asthma", "doc_id": "d1"})
    refused = CliRunner().invoke(app, ["clicks", *command, "--index", absent], input=line)
    assert refused.exit_code == 1
    assert isinstance(refused.exception, TrifuseError)  # which `main` says in one sentence
    assert f"there is no index '{absent}'" in str(refused.exception)
    assert not client.indices.exists(index=events_index(absent))


# --- sessions ---


@pytest.mark.parametrize("option", ["--query", "--session", "--user"])
def test_what_no_log_can_hold_is_wrong_usage(run: Run, option: str) -> None:
    refused = run("forget", option, "\udcff", "--dry-run")  # a byte 255, as an argument
    assert refused.exit_code == 2
    assert "is no UTF-8" in refused.stderr
    assert run("show", "--query", "\udcff", "--json").exit_code == 2


def test_sessions(run: Run, log: str) -> None:
    found = told(run("sessions", "--json", "--size", "1"))
    assert found == {
        "visitors": [
            {
                "visitor": "spy",
                "kind": "session",
                "clicks": 2,
                "counted": 2,
                "share": 0.5,
                "repeated": 0,
                "over_cap": 0,
                "queries": 2,
                "documents": 2,
                "majority": 1,
            }
        ],
        "visitors_in_all": 2,
        "counted": 4,
        "unknown": 1,
    }
    table = run("sessions").stdout
    assert "session spy" in table
    assert "user u1" in table
    assert "1 of the 4 counted clicks name no visitor" in table
    assert "clicks forget --index" in table


def test_what_others_typed_is_no_markup_and_steers_no_terminal(run: Run) -> None:
    typed = {"query": "[/bold] x\x1b[2J", "doc_id": "d1", "session": "[/red]\x1b]0;y", "timestamp": WHEN}
    assert run("load", "-", stdin=json.dumps(typed) + "\n").exit_code == 0
    for command, text in (("show", "[/bold] x\N{REPLACEMENT CHARACTER}[2J"), ("sessions", "session [/red]")):
        shown = run(command)
        assert shown.exit_code == 0, shown.output
        assert text in shown.stdout
        assert "\x1b]" not in shown.stdout
        assert "\x1b[2J" not in shown.stdout


# --- positions ---

PAGE = {"query": "asthma", "doc_id": None, "kind": "impression", "shown": ["d1", "d2"], "timestamp": WHEN}
PAGES = [
    PAGE | {"query_id": "a"},
    PAGE | {"query_id": "b"},
    {"query": "asthma", "doc_id": "d1", "query_id": "a", "position": 1, "timestamp": WHEN, "session": "s"},
]


def test_positions_are_shown_drawn_and_saved(
    run: Run, index: str, client: OpenSearch, tmp_path: Path
) -> None:
    run("load", "-", stdin="".join(json.dumps(line) + "\n" for line in PAGES))
    shown = told(run("positions", "--json"))
    assert (shown["pages"], shown["saved"]) == (2, False)
    assert shown["used"] == pytest.approx(DEFAULT_CURVE)
    first, second = shown["ranks"][:2]
    # (1 + 100 * 0.3) / 102, (0 + 100 * half of that) / 102
    second_rate = 100 * (31 / 102) / 2 / 102
    assert first == {"rank": 1, "shown": 2, "clicked": 1, "smoothed": pytest.approx(31 / 102)}
    assert second == {"rank": 2, "shown": 2, "clicked": 0, "smoothed": pytest.approx(second_rate)}
    picture = tmp_path / "positions.png"
    saved = run("positions", "--save", "--plot", str(picture))
    assert saved.exit_code == 0, saved.output
    assert f"trifuse clicks rebuild --index {index}" in saved.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    meta = client.indices.get_mapping(index=events_index(index))[events_index(index)]["mappings"]["_meta"]
    assert meta["trifuse"]["positions"][:2] == pytest.approx([31 / 102, second_rate])
    assert told(run("positions", "--json"))["used"][0] == pytest.approx(31 / 102)


def test_clicks_whose_page_isnt_logged_are_counted_and_the_remedy_said(run: Run, index: str) -> None:
    lost = {"query": "asthma", "doc_id": "d2", "query_id": "lost", "position": 2, "timestamp": WHEN}
    lines = [*PAGES, lost, lost | {"doc_id": "d3"}]
    run("load", "-", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert told(run("positions", "--json"))["pageless"] == 2
    assert "2 clicks name a search whose page the log doesn't have" in run("positions").stdout


def test_a_curve_that_cant_be_used_is_replaced(run: Run, index: str, client: OpenSearch) -> None:
    run("load", "-", stdin="".join(json.dumps(line) + "\n" for line in PAGES))
    broken = {"_meta": {"trifuse": {"positions": ["x"]}}}
    client.indices.put_mapping(index=events_index(index), body=broken)
    assert "positions --save" in str(run("positions").exception)
    saved = told(run("positions", "--save", "--json"))
    assert (saved["used"], saved["saved"]) == ([], True)
    assert told(run("positions", "--json"))["used"][0] == pytest.approx(31 / 102)


def test_positions_without_pages_and_pictures_that_cant_be(run: Run, log: str, tmp_path: Path) -> None:
    nothing = run("positions")
    assert isinstance(nothing.exception, TrifuseError)
    assert "load impressions" in str(nothing.exception)
    assert run("positions", "--plot", str(tmp_path / "x.bmp")).exit_code == 2
