"""`trifuse study` over the fictional trials of the demo and its click log, whose queries are evaluated.

What was clicked for a query stands for its judgements, and its own clicks are left out: the log can only help
by what was clicked for queries like it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from typer.testing import CliRunner, Result

from trifuse.deploy.cli.app import app
from trifuse.deploy.demo.sample import CLICKS, TRIALS, click_rows
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoder
from trifuse.indexer.mapping import index_body
from trifuse.ranker.evaluation.features import FEATURES
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.reading import read_clicks
from trifuse.worker.embedding import embed

Run = Callable[..., Result]
QUERIES, PAIRS = 26, 52
"""Distinct queries of the log, and documents that were clicked for them, as one counts in the file."""


@pytest.fixture(scope="module")
def index(client: OpenSearch, redis_client: Redis, encoder: Encoder) -> Iterator[str]:
    """The trials by their titles, embedded, and the log with its queries embedded."""
    name = f"test-study-{uuid.uuid4().hex[:12]}"
    space = Space(encoder.space, TextTemplate(("title",)))
    body = index_body({"title": {"type": "text", "analyzer": "english"}}, spaces={VECTOR_FIELD: space})
    client.indices.create(index=name, body=body)
    trials = [json.loads(line) for line in TRIALS.read_bytes().splitlines()]
    identifications = [trial["protocolSection"]["identificationModule"] for trial in trials]
    for each in identifications:
        client.index(index=name, id=each["nctId"], body={"title": each["briefTitle"]})
    client.indices.refresh(index=name)
    new: dict[str, None] = {}

    def note(index: str, field: str, space: Space, ids: Sequence[tuple[str, str | None]]) -> None:
        new.update(dict.fromkeys(query for query, _ in ids))

    Intake(client, redis_client, name, enqueue=note, min_visitors=1).take(read_clicks([str(CLICKS)], "ubi"))
    for indexed, ids in (
        (name, [each["nctId"] for each in identifications]),
        (f"trifuse-queries-{name}", list(new)),
    ):
        report = embed(client, encoder, indexed, VECTOR_FIELD, [(each, None) for each in ids])
        assert not report.failed
        client.indices.refresh(index=indexed)
    yield name
    client.indices.delete(index=f"{name},trifuse-*-{name}", params={"ignore_unavailable": "true"})
    for key in redis_client.scan_iter(match=f"trifuse:{{{name}}}*", count=1000):
        redis_client.delete(key)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log's queries, and what was clicked for each as its judgements."""
    folder = tmp_path_factory.mktemp("study")
    texts: dict[str, str] = {}
    asked: dict[str, str] = {}
    clicked: set[tuple[str, str]] = set()
    for row in click_rows():
        if "user_query" in row:
            texts[row["query_id"]] = row["user_query"]
            asked.setdefault(row["user_query"], f"q{len(asked)}")
        elif row["action_name"] == "click":
            document = row["event_attributes"]["object"]["object_id"]
            clicked.add((asked[texts[row["query_id"]]], document))
    (folder / "queries.tsv").write_text("".join(f"{each}\t{text}\n" for text, each in asked.items()))
    (folder / "qrels.txt").write_text(
        "".join(f"{query} 0 {document} 1\n" for query, document in sorted(clicked))
    )
    return folder


@pytest.fixture
def run(services: Any, index: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a study of the log with the default encoder."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)

    def call(study: str, *options: str) -> Result:
        command = ["study", study, index, "--queries", str(files / "queries.tsv")]
        if study != "cost":
            command += ["--qrels", str(files / "qrels.txt")]
        return CliRunner().invoke(app, [*command, *options], env={"COLUMNS": "100"})

    return call


def found(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output + repr(result.exception)
    return dict(json.loads(result.stdout))


def test_segments(run: Run, tmp_path: Path) -> None:
    """By LADER's own profile. Two queries stand 7 times in the log: without themselves they are TORSO."""
    options = ("--profile", "lader", "--measures", "nDCG@10,RR", "--plot", str(tmp_path / "p.png"))
    study = found(run("segments", *options, "--json"))
    assert (study["profile"], study["against"]) == ("lader", "lader-no-log")
    assert (study["queries"], study["leave_one_out"], study["in_log"]) == (QUERIES, True, QUERIES)
    whole = study["segments"]["ALL"]["nDCG@10"]
    counts = {name: each["nDCG@10"]["queries"] for name, each in study["segments"].items()}
    assert counts == {"ALL": QUERIES, "TORSO": 2, "TAIL": QUERIES - 2}
    assert whole["difference"] == pytest.approx(whole["value"] - whole["against"])
    assert whole["difference"] > 0.05  # similar queries' clicks help
    assert set(whole) >= {"value_ci95", "against_ci95", "difference_ci95", "relative", "p", "wins", "losses"}
    assert study["legs"]["lader-no-log"]["clicks"] == {"off": QUERIES}
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_log_size(run: Run, tmp_path: Path) -> None:
    options = ("--shares", "50,100", "--plot", str(tmp_path / "p.png"))
    study = found(run("log-size", *options, "--json"))
    assert (study["profile"], study["against"]) == ("default", "default-no-log")  # what is served
    line = study["segments"]["ALL"]
    assert [point["share"] for point in line] == [0.0, 0.5, 1.0]
    assert line[0]["mean"] <= line[2]["mean"]
    assert line[2]["difference"] == pytest.approx(line[2]["mean"] - line[0]["mean"])
    assert (tmp_path / "p.png").stat().st_size > 0
    shown = run("log-size", "--shares", "100").stdout
    assert "none" in shown
    assert "100 %" in shown
    assert "their own clicks were left out" in shown


def test_gains(run: Run, tmp_path: Path) -> None:
    """Bounds that the log sets: 26 queries, of which none is HEAD, and 63 trials."""
    study = found(run("gains", "--plot", str(tmp_path / "p.svg"), "--json"))
    fit = study["regression"]
    assert list(fit["coefficients"]) == list(FEATURES)
    assert fit["observations"] == QUERIES
    assert study["left_out"] == 0
    assert fit["constant"] == ["HEAD"]
    assert ["TORSO", "TAIL"] in fit["collinear"]
    assert 0 <= fit["r2"] <= 1
    torso, tail = (fit["coefficients"][name]["value"] for name in ("TORSO", "TAIL"))
    assert torso == pytest.approx(-tail)
    for query in study["per_query"].values():
        assert query["HEAD"] + query["TORSO"] + query["TAIL"] == 1
        assert 0 < query["ENT(Q)"] <= log(QUERIES - 1) + 1e-9  # all but the query itself
        assert 0 < query["ENT(D)"] <= log(63) + 1e-9  # all trials
        assert 1 <= query["REL1"] <= 4  # no query had more documents clicked
    assert "<svg" in (tmp_path / "p.svg").read_text()
    assert "HEAD: the same for all queries" in run("gains").stdout


def test_cost(run: Run, tmp_path: Path) -> None:
    options = ("--rounds", "2", "--plot", str(tmp_path / "p.pdf"))
    study = found(run("cost", *options, "--json"))
    assert study["clicks"] == {"ok": 2 * QUERIES}
    for name in ("p50", "p95", "mean"):
        each = study["latency"][name]
        assert each["with_ms"] / each["without_ms"] == pytest.approx(each["ratio"])
    memory = study["memory"]
    assert (memory["past_queries"], memory["estimated"]) == (QUERIES, False)
    assert memory["pairs"] == PAIRS
    assert memory["bytes"]["redis"] == sum(memory["redis"].values())
    assert memory["bytes_per_pair"]["redis"] == memory["bytes"]["redis"] / PAIRS
    assert memory["redis"]["q"] > PAIRS * 20  # a record a pair at least
    assert all(size > 0 for size in memory["opensearch"].values())
    assert len(memory["opensearch"]) == 2
    shown = run("cost", "--rounds", "1").stdout
    assert "what was clicked" in shown


@pytest.mark.parametrize(
    ("study", "options", "message"),
    [
        ("segments", ["--profile", "lexical=1"], "gives clicks no weight"),
        ("segments", ["--measures", "nDCG@ten"], "no measure 'nDCG@ten'"),
        ("log-size", ["--shares", "0,10"], "percents such as"),
        ("gains", ["--plot", "nowhere/p.png"], "there is no folder 'nowhere'"),
        ("cost", ["--size", "2000"], "deeper than the profiles rank"),
        ("cost", ["--plot", "p.jpg"], "no kind of picture"),
    ],
)
def test_wrong_usage(run: Run, study: str, options: list[str], message: str) -> None:
    done = run(study, *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())


def test_without_a_click_store(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL")
    done = run("cost")
    assert done.exit_code == 1
    assert "a study needs the click log" in done.output
