"""`trifuse evaluate` as a process of its own, over three documents and values worked out by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

EVALUATE = "from trifuse.deploy.cli import main; main()"
BODY = '{"query": {"match": {"title": "{{text}}"}}, "size": 1, "highlight": {"fields": {"title": {}}}}'


@pytest.fixture
def run(
    services: Any, make_index: Callable[..., str], client: OpenSearch, redis_client: Redis, tmp_path: Path
) -> Callable[..., Any]:
    """Evaluates over an index in which BM25 finds 2 before 1 for stroke, and people clicked 1."""
    index = make_index(
        [
            {"_id": "1", "title": "aspirin given after a stroke"},
            {"_id": "2", "title": "stroke"},
            {"_id": "3", "title": "gout"},
        ],
        vectors=False,
    )
    Intake(client, redis_client, index, min_visitors=1).take([ClickEvent(query="stroke", doc_id="1")])
    (tmp_path / "queries.tsv").write_text("s\tstroke\ng\tgout\nn\tnothing is relevant\nu\tunjudged\n")
    (tmp_path / "qrels.txt").write_text("s 0 1 2\ns 0 2 0\ng 0 3 1\nn 0 3 0\n")

    (tmp_path / "named.txt").write_text("s Q0 1 1 1 lexical=1\n")

    def call(*options: str, body: str = BODY) -> subprocess.CompletedProcess[str]:
        files = ["--queries", "queries.tsv", "--qrels", "qrels.txt", "--body", body]
        command = [sys.executable, "-c", EVALUATE, "evaluate", index, *files, *options]
        environ = {**os.environ, **services.environ(), "COLUMNS": "100"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    return call


def test_values_tests_and_runs(run: Callable[..., Any], tmp_path: Path) -> None:
    """BM25 has the relevant document of `s` second, clicks have it first; `g` is first in both."""
    done = run(
        "--profile",
        "lexical=1",
        "--profile",
        "lexical=0.1,clicks=0.9",
        "--measures",
        "RR,nDCG@10",
        "--measures",
        "R@1",
        "--run-out",
        "runs.txt",
        "--no-leave-one-out",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    bm25, clicks = found["profiles"]["lexical=1"], found["profiles"]["lexical=0.1,clicks=0.9"]
    assert bm25["RR"] == {"mean": 0.75, "ci95": [0.5, 1.0]}
    assert bm25["nDCG@10"]["mean"] == pytest.approx((1 / log2(3) + 1) / 2)
    assert bm25["R@1"]["mean"] == 0.5
    assert clicks["RR"] == {"mean": 1.0, "ci95": [1.0, 1.0]}
    assert (found["queries"], found["excluded"]) == (2, 2)
    assert found["per_query"]["lexical=1"]["s"]["RR"] == 0.5
    compared = found["tests"]["lexical=0.1,clicks=0.9"]["RR"]
    assert (compared["difference"], compared["p_randomisation"], compared["wins"]) == (0.25, 1.0, 1)
    assert found["depth"]["lexical=1"] == 100
    assert compared["gained"] == [{"query": "s", "value": 1.0, "against": 0.5}]
    assert compared["lost"] == []
    assert (found["leave_one_out"], found["in_log"]) == (False, 1)  # stroke
    tail = found["segments"]["TAIL"]
    assert (list(found["segments"]), tail["queries"]) == (["TAIL"], 2)
    assert tail["profiles"] == found["profiles"]
    assert found["legs"]["lexical=0.1,clicks=0.9"]["clicks"] == {"ok": 1, "empty": 1}
    assert (tmp_path / "runs.txt").read_text().splitlines() == [
        "s Q0 2 1 2 lexical=1",
        "s Q0 1 2 1 lexical=1",
        "g Q0 3 1 1 lexical=1",
        "s Q0 1 1 2 lexical=0.1,clicks=0.9",
        "s Q0 2 2 1 lexical=0.1,clicks=0.9",
        "g Q0 3 1 1 lexical=0.1,clicks=0.9",
    ]


def test_a_query_of_the_log_is_ranked_without_its_own_clicks(run: Callable[..., Any]) -> None:
    """Without what was clicked for it, `stroke` is ranked as by BM25 alone."""
    options = ("--profile", "lexical=0.1,clicks=0.9", "--measures", "RR")
    done = run(*options, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["profiles"]["lexical=0.1,clicks=0.9"]["RR"]["mean"] == 0.75
    assert (found["leave_one_out"], found["in_log"]) == (True, 1)
    said = run(*options).stdout
    assert "has 1 of these queries itself: their own clicks were left out" in said
    assert "that flatters" in run(*options, "--no-leave-one-out").stdout


def test_segments_by_a_file_of_frequencies(run: Callable[..., Any], tmp_path: Path) -> None:
    """RR is 1/2 for `s`, a HEAD query by the file, and 1 for `g`, a TORSO query."""
    (tmp_path / "frequencies.tsv").write_text("s\t45\ng\tTORSO\nn\t1\n")
    options = ("--profile", "lexical=1", "--measures", "RR", "--frequencies", "frequencies.tsv")
    done = run(*options, "--json")
    assert done.returncode == 0, done.stderr
    segments = json.loads(done.stdout)["segments"]
    means = {name: each["profiles"]["lexical=1"]["RR"]["mean"] for name, each in segments.items()}
    assert means == {"HEAD": 0.5, "TORSO": 1.0}
    shown = run(*options, "--by-segment").stdout
    assert "HEAD: 1 queries" in shown
    assert "TORSO: 1 queries" in shown
    (tmp_path / "frequencies.tsv").write_text("s\t45\n")
    refused = run(*options)
    assert refused.returncode == 1
    assert "lack 1 of the 2 evaluated queries, such as 'g'" in " ".join(refused.stderr.split())


def test_a_table_for_people_and_depth(run: Callable[..., Any], tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('{"name": "shallow", "weights": {"lexical": 1}, "depth": 1}')
    deep = run("--profile", str(profile), "--measures", "R@2")
    assert deep.returncode == 0, deep.stderr
    assert "1.0000" in deep.stdout
    assert "2 queries without a relevant document were left out" in deep.stdout
    assert "ranked to depth 2" in deep.stdout
    shallow = run("--profile", str(profile), "--measures", "R@2", "--limit-depth")
    assert shallow.returncode == 0, shallow.stderr
    assert "0.5000" in shallow.stdout


def test_another_systems_run_and_why_queries_moved(run: Callable[..., Any], tmp_path: Path) -> None:
    """Theirs has the relevant document of `s` first, where BM25 has it second, and nothing for `g`."""
    (tmp_path / "theirs.txt").write_text("s Q0 2 2 0.5 theirs\ns Q0 1 1 0.9 theirs\nother Q0 1 1 1 theirs\n")
    options = ("--run-in", "theirs.txt", "--profile", "lexical=1", "--measures", "RR", "--explain", "1")
    files = ("--per-query", "values.tsv", "--plot", "evaluation.svg", "--run-out", "ours.txt")
    done = run(*options, *files, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: each["RR"]["mean"] for name, each in found["profiles"].items()} == {
        "theirs": 0.5,
        "lexical=1": 0.75,
    }
    assert found["tests"]["lexical=1"]["RR"]["against"] == "theirs"
    gained, lost = found["explanations"]
    assert (gained["query"], gained["text"], gained["value"], gained["against_value"]) == (
        "g",
        "gout",
        1.0,
        0.0,
    )
    first, second = lost["documents"]  # by BM25 and by theirs
    assert (first["document"], first["grade"], first["against"]) == ("2", 0, {"rank": 2, "legs": None})
    assert first["placed"]["legs"]["lexical"]["rank"] == 1
    assert (second["document"], second["grade"], second["placed"]["rank"]) == ("1", 2, 2)
    assert (tmp_path / "values.tsv").read_text().splitlines() == [
        "profile\tquery\ttext\tRR",
        "theirs\ts\tstroke\t1",
        "theirs\tg\tgout\t0",
        "lexical=1\ts\tstroke\t0.5",
        "lexical=1\tg\tgout\t1",
    ]
    assert "<svg" in (tmp_path / "evaluation.svg").read_text()
    assert "theirs" not in (tmp_path / "ours.txt").read_text()  # what was read isn't written
    shown = run(*options)
    assert "theirs has no ranking for 1 of 2 queries: they count as 0" in shown.stdout
    assert "s 'stroke': RR 1.000 by theirs, 0.500 by lexical=1" in " ".join(shown.stdout.split())
    assert "1: lexical #1" in shown.stdout


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--measures", "nDCG@ten"], 2, "no measure 'nDCG@ten'"),
        (["--profile", "lexical=1"], 2, "two profiles named 'lexical=1'"),
        (["--run-in", "named.txt"], 2, "another run or profile is named 'lexical=1'"),
        (["--profile", "bm25=1"], 2, "no leg 'bm25'"),
        (["--measures", "R@20000"], 2, "looks down to rank 20000"),
        (["--run-out", "nowhere/runs.txt"], 2, "no folder"),
        (["--per-query", "nowhere/values.tsv"], 2, "no folder"),
        (["--run-out", "qrels.txt"], 2, "written over 'qrels.txt', which is to be read"),
        (["--run-in", "named.txt", "--run-out", "./named.txt"], 2, "written over 'named.txt'"),
        (["--per-query", "queries.tsv"], 2, "written over 'queries.tsv'"),
        (["--plot", "values.tsv"], 2, "no kind of picture"),
        (["--run-in", "qrels.txt"], 1, "qrels.txt, line 1: 4 columns, expected 6"),
        (["--qrels", "queries.tsv"], 1, "queries.tsv, line 1"),
    ],
)
def test_what_is_wrong_is_said(
    run: Callable[..., Any], options: list[str], status: int, message: str
) -> None:
    done = run("--profile", "lexical=1", *options)
    assert done.returncode == status, done.stderr
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_leg_that_failed_is_no_success(run: Callable[..., Any]) -> None:
    done = run("--profile", "lexical=0.5,clicks=0.5", "--redis", "redis://127.0.0.1:9/0", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["queries"], found["in_log"], found["segments"]) == (2, None, {})
    assert "clicks failed in 2 of 2 queries" in " ".join(done.stderr.split())


def test_segments_that_nothing_says(run: Callable[..., Any]) -> None:
    done = run("--profile", "lexical=1", "--redis", "redis://127.0.0.1:9/0", "--by-segment")
    assert done.returncode == 1
    assert "or give how often the log has each query with --frequencies" in " ".join(done.stderr.split())
