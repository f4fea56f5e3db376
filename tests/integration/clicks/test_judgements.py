"""`trifuse clicks judgements`: what the log judges, and that `evaluate` takes it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from typer.testing import CliRunner, Result

from trifuse.deploy.cli.app import app
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.worker.clicks.errors import NothingJudged, SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.forget import forget
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.judgements import Judged, judgements
from trifuse.worker.clicks.selection import Selection

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
from simulator import ClickModel, simulate

NOW = time.time() - 1000
PAGE = ("d0", "d1", "d2")
ASTHMA = query_id(normalize_query("asthma"))


def visits(
    query: str, visitors: int, clicks: dict[str, int], page: tuple[str, ...] = PAGE
) -> Iterator[ClickEvent]:
    """So many visitors were shown a page; the first of them clicked on each document."""
    for n in range(visitors):
        seen = {"query": query, "user": f"v{n}", "timestamp": NOW, "shown": page}
        yield ClickEvent(kind="impression", event_id=f"{query} {n}", **seen)
        for doc, number in clicks.items():
            if n < number:
                yield ClickEvent(doc_id=doc, position=page.index(doc) + 1, **seen)


@pytest.fixture
def public_intake(client: OpenSearch, redis_client: Redis, index: str) -> Intake:
    """With the bounds that are the defaults: three visitors make a query public."""
    return Intake(client, redis_client, index)


@pytest.fixture
def run(services: Any, index: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `judgements` on the index."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)

    def call(*options: str) -> Result:
        return CliRunner().invoke(app, ["clicks", "judgements", "--index", index, *options])

    return call


def test_grades_are_clicks_over_expected_clicks(
    client: OpenSearch, redis_client: Redis, index: str, public_intake: Intake
) -> None:
    """20 pages: 6, 3 and 2 clicks are expected (0.3 / rank), and 15 came: 15 / 11 of what is expected.

    d0: (3 + 1) / (6 · 15/11 + 1) = 0.44; d1: (12 + 1) / (3 · 15/11 + 1) = 2.55; d2: 1 / 3.73.
    """
    public_intake.take(visits("asthma", 20, {"d0": 3, "d1": 12}))
    public_intake.take([ClickEvent(query="who", doc_id="d2", query_id="x", user="v1", timestamp=NOW)])
    assert list(judgements(client, redis_client, index)) == [
        Judged(ASTHMA, "asthma", {"d0": 0, "d1": 2, "d2": 0}, 0)
    ]
    assert list(judgements(client, redis_client, index, grades=1)) == [
        Judged(ASTHMA, "asthma", {"d0": 0, "d1": 1, "d2": 0}, 0)
    ]
    # 3 · 15/11 = 4.09 clicks are expected of d1, 2.7 of d2
    assert list(judgements(client, redis_client, index, min_expected=4.0)) == [
        Judged(ASTHMA, "asthma", {"d0": 0, "d1": 2}, 1)
    ]
    with pytest.raises(NothingJudged, match="--min-expected"):
        list(judgements(client, redis_client, index, min_expected=9.0))


def test_what_nobody_clicked_for_any_query_is_left_out(
    client: OpenSearch, redis_client: Redis, index: str, public_intake: Intake
) -> None:
    public_intake.take(visits("asthma", 20, {"d1": 12}))
    assert list(judgements(client, redis_client, index)) == [Judged(ASTHMA, "asthma", {"d1": 2}, 2)]


def test_queries_of_few_and_what_was_forgotten_arent_judged(
    client: OpenSearch, redis_client: Redis, index: str, public_intake: Intake
) -> None:
    public_intake.take(visits("asthma", 20, {"d0": 20}))
    public_intake.take(visits("jane doe", 20, {"d1": 2}))
    assert [judged.text for judged in judgements(client, redis_client, index)] == ["asthma"]
    forget(client, redis_client, index, Selection(queries=("asthma",)))
    with pytest.raises(NothingJudged, match="--min-expected"):
        list(judgements(client, redis_client, index))


def test_without_a_log_or_an_index(client: OpenSearch, redis_client: Redis, index: str) -> None:
    with pytest.raises(NothingJudged, match="clicks rebuild"):
        list(judgements(client, redis_client, index))
    with pytest.raises(SearchIndexMissing, match="check the name"):
        list(judgements(client, redis_client, f"{index}-absent"))


def test_what_the_command_writes(run: Callable[..., Result], public_intake: Intake, tmp_path: Path) -> None:
    public_intake.take(visits('asthma "now"', 20, {"d0": 20, "d1": 1}))
    key, queries = query_id('asthma "now"'), tmp_path / "queries.jsonl"
    done = run("--out-queries", str(queries))
    assert done.exit_code == 0, done.output
    # 21 clicks over 11 expected: (20 + 1) / (6 · 21/11 + 1) = 1.69, (1 + 1) / (3 · 21/11 + 1) = 0.30
    assert done.stdout == f"{key}\t0\td0\t1\n{key}\t0\td1\t0\n"
    assert [json.loads(line) for line in queries.read_text().splitlines()] == [
        {"_id": key, "text": 'asthma "now"'}
    ]
    assert "2 judgements of 1 queries: 1 of grade 1, 1 of grade 0; 1 documents" in done.stderr
    told = json.loads(run("--json").stdout)
    assert told == {
        "queries": {key: 'asthma "now"'},
        "qrels": {key: {"d0": 1, "d1": 0}},
        "unsure": 1,
    }


def test_wrong_usage_ends_with_2(run: Callable[..., Result], tmp_path: Path) -> None:
    assert run("--grades", "0").exit_code == 2
    assert run("--min-expected", "0").exit_code == 2
    assert run("--out-queries", str(tmp_path / "no" / "q")).exit_code == 2


RELEVANT = {"gout": {"d3": 1, "d7": 1}, "asthma": {"d0": 1}, "stroke": {"d9": 1}}


def test_a_simulated_log_judges_what_evaluate_measures(
    run: Callable[..., Result],
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    public_intake: Intake,
    tmp_path: Path,
) -> None:
    """All queries show d0 to d9 in this order, which is BM25's; clicks follow relevance and rank."""
    ranking = [f"d{n}" for n in range(10)]
    for n, doc in enumerate(ranking):
        client.index(index=index, id=doc, body={"title": "gout asthma stroke" + " and" * n})
    client.indices.refresh(index=index)
    texts = {query: query for query in RELEVANT}
    log = simulate(
        texts,
        RELEVANT,
        dict.fromkeys(texts, ranking),
        seed=5,
        sessions=1500,
        end=NOW,
        model=ClickModel(noise=0.05, page=10),
        shift=1000.0,  # none is rare
    )
    public_intake.take(log)
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    written = run("--out-queries", str(queries))
    assert written.exit_code == 0, written.output
    qrels.write_text(written.stdout)

    found = {judged.text: judged.grades for judged in judgements(client, redis_client, index)}
    assert {query: {doc for doc, grade in found[query].items() if grade} for query in found} == {
        query: set(relevant) for query, relevant in RELEVANT.items()
    }
    body = '{"query": {"match": {"title": "{{text}}"}}}'
    files = ["--queries", str(queries), "--qrels", str(qrels), "--body", body]
    measured = CliRunner().invoke(
        app, ["evaluate", index, *files, "--profile", "lexical=1", "--measures", "RR,Judged@10", "--json"]
    )
    assert measured.exit_code == 0, measured.output
    told = json.loads(measured.stdout)
    assert told["queries"] == 3
    assert told["in_log"] == 3  # so that their own clicks are left out
    assert told["leave_one_out"] is True
    values = told["profiles"]["lexical=1"]
    assert values["RR"]["mean"] == pytest.approx((1 / 4 + 1 + 1 / 10) / 3)  # d3, d0 and d9 come first
    assert values["Judged@10"]["mean"] == 1.0
