"""What is told, on a stream that is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from trifuse.deploy.demo.narrator import Narrator


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def test_steps_are_numbered_and_timed() -> None:
    stream = io.StringIO()
    narrator = Narrator(stream)
    with narrator.step("load", "Load [all] of it"):
        narrator.say("read 3")
    with narrator.step("search", "Search"):
        pass
    lines = stream.getvalue().splitlines()
    assert lines == ["", "1  Load [all] of it", "   read 3", "   0.0 s", "", "2  Search", "   0.0 s"]
    assert set(narrator.seconds) == {"load", "search"}


def test_a_step_that_fails_has_no_time() -> None:
    narrator = Narrator(io.StringIO())
    with pytest.raises(ValueError, match="no"), narrator.step("load", "Load"):
        raise ValueError("no")
    assert narrator.seconds == {}


def test_stages_end_as_plain_lines() -> None:
    stream = io.StringIO()
    narrator = Narrator(stream)
    with narrator.stages() as show:
        show("vectors", 0, 4)
        show("vectors", 4, 4)
    assert "vectors" in stream.getvalue()
    assert "4/4" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_no_stage_leaves_no_trace() -> None:
    stream = io.StringIO()
    with Narrator(stream).stages():
        pass
    assert stream.getvalue() == ""


def test_long_lines_are_not_broken_and_tables_are_wide() -> None:
    stream = io.StringIO()
    narrator = Narrator(stream)
    narrator.say("trifuse search demo " + "x" * 200)
    assert len(stream.getvalue().splitlines()) == 1
    narrator.table(Table("a", expand=True))
    assert max(map(len, stream.getvalue().splitlines()[1:])) == 110
