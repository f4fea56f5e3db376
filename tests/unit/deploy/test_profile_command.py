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
from trifuse.ranker.profiles.published import published


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing says where a cluster is."""
    monkeypatch.delenv("OPENSEARCH_URL", raising=False)
    monkeypatch.setenv("TRIFUSE_HOME", str(tmp_path / "home"))


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


def test_list_says_where_only_built_in_ones_are_known(run: Callable[..., tuple[int, str, str]]) -> None:
    assert "no cluster is named, so only what is built in is listed" in run("list")[2]


def test_list_says_that_the_cluster_does_not_answer(run: Callable[..., tuple[int, str, str]]) -> None:
    status, text, message = run("list", "--opensearch", "http://127.0.0.1:9")
    assert (status, "lader" in text) == (1, True)
    assert "stored profiles can't be listed: OpenSearch didn't answer" in message


def test_a_name_that_may_be_stored_where_nothing_can_be_asked(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    for options in ((), ("--opensearch", "http://127.0.0.1:9")):
        status, _, message = run("show", "ladder", *options)
        assert status == 1
        assert "'ladder' is no built-in profile (default, lader," in message
        assert "and stored ones can't be read: " in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "none.json"), "there is no profile and no file 'none.json': give one of default, lader,"),
        (("set", "lader", "--from", "dense=1"), "'lader' is built in and can't be changed"),
        (("set", "a=b", "--from", "dense=1"), "'a=b' can't be the name of a stored profile"),
        (("set", "mine", "--from", "bm25=1"), "there is no leg 'bm25'"),
        (("set", "mine", "--from", "dense=1", "--body", '{"sort": ["year"]}'), "body can't be used: sort"),
        (("set", "mine"), "Missing option '--from'"),
        (("rollback", "mine", "0"), "equal to 1"),
        (("diff", "lader", "none.json"), "there is no profile and no file"),
    ],
)
def test_wrong_usage(
    run: Callable[..., tuple[int, str, str]], arguments: tuple[str, ...], message: str
) -> None:
    status, output, found = run(*arguments)
    assert (status, output) == (2, "")
    assert message in found


def test_diff(run: Callable[..., tuple[int, str, str]]) -> None:
    status, output, _ = run("diff", "lader", "lader-bm25", "--json")
    assert status == 0
    assert json.loads(output) == {"changes": {"weights.lexical": [0.0, 1.0], "weights.dense": [1.0, 0.0]}}
    status, text, _ = run("diff", "lader", "lader-bm25")
    (dense,) = (line for line in text.splitlines() if "weights.dense" in line)
    assert [cell.strip() for cell in dense.split("│")[1:4]] == ["weights.dense", "1.0", "0.0"]
    assert run("diff", "default", "default")[1] == "They are the same.\n"


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
