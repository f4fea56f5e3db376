"""`trifuse tune` as a process of its own: from judgements to a profile that is served."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker.profiles.store import ProfileStore

CLI = "from trifuse.deploy.cli import main; main()"
BODY = {"query": {"match": {"title": "{{text}}"}}, "post_filter": {"term": {"tenant": "x"}}, "size": 3}
QUERIES = {f"q{number}": f"word{number}" for number in range(6)}
NAME = "tune-test"


@pytest.fixture
def run(services: Any, make_index: Callable[..., str], tmp_path: Path) -> Callable[..., Any]:
    """Tunes over an index in which the shortest title, BM25's best, is what nobody wants; no vectors."""
    documents = [
        {"_id": f"{text}-{length}", "title": f"{text} " + "x " * length, "tenant": "xy"[length == 4]}
        for text in QUERIES.values()
        for length in range(5)
    ]
    index = make_index(documents, vectors=False)
    lines = [f"{id}\t{text}\n" for id, text in QUERIES.items()]
    (tmp_path / "queries.tsv").write_text("".join([*lines, "none\tnothing\n"]))
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{id} 0 {text}-{n} {int(n == 1)}\n" for id, text in QUERIES.items() for n in range(4))
    )
    (tmp_path / "split.txt").write_text("q1\nq4\n")
    (tmp_path / "body.json").write_text(json.dumps(BODY))

    def call(command: str, *options: str, files: bool = True) -> subprocess.CompletedProcess[str]:
        given = ("--queries", "queries.tsv", "--qrels", "qrels.txt", "--cache", "kept") if files else ()
        environ = {**os.environ, **services.environ(), "COLUMNS": "100", "TRIFUSE_ENCODER": ""}
        arguments = [sys.executable, "-c", CLI, command, index, *options, *given]
        return subprocess.run(
            arguments, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False
        )

    return call


@pytest.fixture
def stored(client: OpenSearch) -> Iterator[ProfileStore]:
    """The store, in which the test's profile is deleted afterwards."""
    store = ProfileStore(client)
    yield store
    if NAME in store.names():
        store.delete(NAME)


def test_from_judgements_to_what_is_served(
    run: Callable[..., Any], stored: ProfileStore, tmp_path: Path
) -> None:
    """BM25 has the relevant document second of four that pass the filter: nDCG is 1/log2(3)."""
    done = run("tune", "--body", "body.json", "--folds", "3", "--save", NAME, "--json", "--plot", "t.png")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["heldout"]["mean"] == found["baseline"]["mean"] == pytest.approx(0.6309, abs=1e-4)
    assert (found["queries"], found["excluded"], found["p_value"]) == (6, 1, 1.0)
    assert found["settings_tried"] >= 1
    assert found["best"]["weights"]["lexical"] == 1.0  # there is nothing else
    assert any("no better than default: keep default" in each for each in found["cautions"])
    assert found["legs"]["dense"] == {"off": 6}
    assert found["saved"] == {"name": NAME, "version": 1}
    assert (tmp_path / "t.png").stat().st_size > 1000
    version = stored.get(NAME)
    assert version.profile.body == BODY
    assert version.evidence["heldout"] == found["heldout"]
    assert "nDCG@10 0.6309 held out on 6 queries" in version.note
    served = run("search", "word2", "--profile", NAME, "--json", files=False)
    assert served.returncode == 0, served.stderr
    hits = [hit["_id"] for hit in json.loads(served.stdout)["hits"]["hits"]]
    assert hits == ["word2-0", "word2-1", "word2-2"]  # by the body that was saved with it


def test_tables_for_people_and_a_split(run: Callable[..., Any]) -> None:
    done = run(
        "tune",
        "--body",
        "body.json",
        "--split",
        "split.txt",
        "--measure",
        "RR",
        "--search",
        "random",
        "--by-segment",
    )
    assert done.returncode == 0, done.stderr
    assert "RR of 2 queries held out" in done.stdout
    assert "0.5000" in done.stdout
    assert "1 queries without a relevant document were left out" in done.stdout
    assert "dense isn't there to run: " in done.stdout
    assert "caution: 6 judged queries are few" in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--measure", "ERR@10"], "can't tune by 'ERR@10'"),
        (["--search", "all"], "there is no search 'all'"),
        (["--baseline", "nobody-has-it"], "nobody-has-it"),
        (["--save", "default"], "is built in"),
        (["--note", "why"], "name one with --save"),
        (["--body", '{"query": {"match_all": {}}, "collapse": {"field": "tenant"}}'], "leave 'collapse' out"),
        (["--body", '{"query": {"match": {"title": "a {{text}}"}}}'], "must be the whole of a string"),
        (["--folds", "1"], "--folds"),
        (["--plot", "t.doc"], "no kind of picture"),
    ],
)
def test_what_is_asked_for_wrongly_has_status_2(
    run: Callable[..., Any], options: list[str], says: str
) -> None:
    done = run("tune", *options)
    assert done.returncode == 2, done.stderr
    assert says in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_more_folds_than_queries_has_status_1(run: Callable[..., Any]) -> None:
    done = run("tune", "--folds", "7")
    assert done.returncode == 1
    assert "6 judged queries can't be parted into 7 folds" in done.stderr
