"""`trifuse search` as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SEARCH = "from trifuse.deploy.cli import main; main()"


@pytest.fixture
def search(services: Any, make_index: Callable[..., str], tmp_path: Path) -> Callable[..., Any]:
    """Searches an index of two documents by BM25 and clicks: its vectors are of no real encoder."""
    index = make_index(
        [
            {"_id": "1", "title": "aspirin after stroke", "tenant": "a"},
            {"_id": "2", "title": "stroke", "tenant": "b"},
        ],
        vectors=False,
    )

    def run(text: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SEARCH, "search", index, text, *options]
        environ = {**services.environ(), "PATH": "", "COLUMNS": "100"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    return run


def test_a_response_and_nothing_else_on_stdout(search: Callable[..., Any]) -> None:
    done = search("stroke", "--profile", "lexical=1", "--filter", '{"term": {"tenant": "b"}}', "--json")
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["2"]
    assert response["hits"]["hits"][0]["trifuse"]["legs"]["lexical"]["rank"] == 1
    assert response["trifuse"]["profile"] == "lexical=1"
    assert response["trifuse"]["filter"]["given"] == {"term": {"tenant": "b"}}


def test_the_teams_own_body_and_a_profile_from_files(search: Callable[..., Any], tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"query": {"match": {"title": {"query": "{{text}}", "operator": "and"}}}, "size": 1}')
    profile = tmp_path / "profile.json"
    profile.write_text('{"name": "bm25", "weights": {"lexical": 1}, "depth": 5}')
    done = search('"aspirin" stroke', "--body", str(body), "--profile", str(profile), "--explain", "--json")
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    assert response["trifuse"]["profile"] == "bm25"
    (hit,) = response["hits"]["hits"]
    assert hit["_id"] == "1"
    assert hit["_explanation"]["value"] == hit["_score"]


def test_a_table_for_people(search: Callable[..., Any]) -> None:
    done = search("stroke", "--profile", "lexical=1", "--size", "1", "--from", "1", "--explain")
    assert done.returncode == 0, done.stderr
    assert "aspirin after stroke" in done.stdout
    assert "weight 0 in the profile" in done.stdout


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--filter", "nothing.json"], 2, "neither a JSON object nor a file"),
        (["--body", '{"sort": ["year"]}'], 2, "sort"),
        (["--body", '{"query": {"match": {"title": "a {{text}}"}}}'], 2, "whole of a string"),
        (["--from", "99", "--size", "2"], 2, "depth is 100"),
        (["--profile", "bm25=1"], 2, "no leg 'bm25'"),
        (["--body", '{"query": {"nope": {}}}'], 1, "unknown query [nope]"),
        (["--encoder", "nope"], 1, "no model 'nope'"),
        (
            ["--filter", '{"term": {"tenat": "b"}}'],
            0,
            "no field 'tenat' in the mapping: did you mean 'tenant'?",
        ),
    ],
)
def test_what_is_wrong_is_said(
    search: Callable[..., Any], options: list[str], status: int, message: str
) -> None:
    profile = [] if "--profile" in options or "--encoder" in options else ["--profile", "lexical=1"]
    done = search("stroke", *profile, *options)
    assert done.returncode == status, done.stderr
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_profile_of_a_field_that_is_gone_ranks_without_vectors_and_says_so(
    services: Any, make_index: Callable[..., str], tmp_path: Path
) -> None:
    """As after `trifuse reembed INDEX --finish`: the profile stayed with the old field."""
    index = make_index([{"_id": "1", "title": "stroke", "angle": 0}])
    profile = tmp_path / "mine.json"
    profile.write_text('{"name": "mine", "weights": {"lexical": 1, "dense": 1}, "vector_field": "old"}')
    command = [sys.executable, "-c", SEARCH, "search", index, "stroke", "--json", "--profile", str(profile)]
    environ = {**services.environ(), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)
    assert done.returncode == 1
    assert [hit["_id"] for hit in json.loads(done.stdout)["hits"]["hits"]] == ["1"]
    said = " ".join(done.stderr.split())
    assert f"ranked without vectors: '{index}' has no vectors in the field 'old', which the profile" in said
    assert "set the profile's vector_field to null" in said


def test_an_index_of_an_unknown_encoder_asks_for_it(
    services: Any, make_index: Callable[..., str], tmp_path: Path
) -> None:
    index = make_index([{"_id": "1", "title": "stroke", "angle": 0}])
    environ = {**services.environ(), "PATH": "", "HOME": str(tmp_path)}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SEARCH, "search", index, "stroke", "--json", *options]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    done = run()
    assert done.returncode == 1, done.stdout
    assert "the encoder 'tiny' isn't known here: give its folder with --encoder" in " ".join(
        done.stderr.split()
    )
    assert run("--profile", "lexical=1").returncode == 0
