"""`trifuse profile`, and how the commands that rank read a profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import profile
from trifuse.deploy.cli.ranking import read_profile
from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.published import published


@pytest.fixture
def run() -> Callable[..., tuple[int, str, str]]:
    app = typer.Typer()
    profile.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["profile", *arguments])
        return result.exit_code, result.stdout, " ".join(result.stderr.split())

    return invoke


def test_list(run: Callable[..., tuple[int, str, str]]) -> None:
    status, text, _ = run("list")
    assert status == 0
    (lader,) = (line for line in text.splitlines() if "lader " in line)
    assert "1 softmax" in lader
    assert "0.5/0.5/0.2" in lader
    status, output, _ = run("list", "--json")
    assert (status, sorted(json.loads(output))) == (0, sorted(published()))


def test_show_is_the_start_of_ones_own(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    status, output, _ = run("show", "lader")
    assert status == 0
    mine = tmp_path / "mine.json"
    mine.write_text(output)
    assert read_profile(str(mine)) == read_profile(output) == published()["lader"]


def test_a_name_that_nothing_has(run: Callable[..., tuple[int, str, str]]) -> None:
    status, _, message = run("show", "ladder")
    assert status == 2
    assert "there is no profile and no file 'ladder': give one of default, lader," in message


def test_how_a_profile_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lader").write_text('{"name": "mine", "weights": {"lexical": 1}}')
    assert read_profile(None) == read_profile("default") == Profile()
    assert read_profile("lader").name == "lader"  # a file of that name can be given as ./lader
    assert read_profile("./lader").name == "mine"
    assert read_profile("dense=1").weights["dense"] == 1.0
    (tmp_path / "a=b").write_text('{"name": "odd"}')
    assert read_profile("a=b").name == "odd"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none.json", "no file 'none.json'"),
        ("x" * 5000, "there is no profile"),
        ("\0", "there is no profile"),
        ("", "there is no profile"),
        ('{"clicks": {"m": "many"}}', "clicks.m is 'many'"),
        ('{"weights": {"dense": NaN}}', "nan"),
        ('{"softmax_temperature": {"dense": 1e999}}', "inf: give a number above 0"),
    ],
)
def test_what_is_no_profile(given: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read_profile(given)


@pytest.mark.parametrize("given", ['{"weights": ', "{1: 2}", '{"clicks": ' + "[" * 100_000])
def test_what_is_no_json(given: str) -> None:
    with pytest.raises(typer.Exit) as ended:
        read_profile(given)
    assert ended.value.exit_code == 2
