"""`trifuse demo` before anything is started: its options, and what it makes of them."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from trifuse.deploy.cli.demo import register
from trifuse.deploy.demo.run import Wanted
from trifuse.deploy.demo.sample import TRIALS


def _run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command("other")(lambda: None)  # with one command alone, typer takes no command's name
    register(app)
    done = CliRunner().invoke(app, ["demo", *arguments])
    return done.exit_code, done.output


def test_a_missing_file_is_wrong_usage() -> None:
    status, output = _run("--data", "/nowhere/at/all.json")
    assert status == 2
    assert "/nowhere/at/all.json" in output.replace("\n", "")


def test_too_many_sentences_are_wrong_usage() -> None:
    assert _run("--sentences", "101")[0] == 2


def test_help_has_an_example() -> None:
    status, output = _run("--help")
    assert status == 0
    assert "Example" in output


def test_without_data_the_sample_is_loaded() -> None:
    assert Wanted(index="demo").paths == (TRIALS,)
