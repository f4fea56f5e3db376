"""Two runs compared, against values worked out by hand."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.per_query import write_per_query
from trifuse.ranker.evaluation.report import by_segment

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 0}, "unasked": {"a": 1}}
QUERIES = {"q1": "one", "q2": "two", "q3": "nothing relevant", "q4": "not judged"}
RUNS = {
    "bm25": {"q1": ["x", "a"], "q2": ["x", "y", "z", "b"], "q3": ["c"]},
    "hybrid": {"q1": ["a"], "q2": ["b"], "q3": ["c"]},
}


def test_means_intervals_and_what_was_excluded() -> None:
    found = evaluate(RUNS, QRELS, QUERIES, ["RR", "P@2"]).as_dict()
    json.dumps(found)
    assert (found["queries"], found["excluded"]) == (2, 2)
    assert found["profiles"]["bm25"] == {
        "RR": {"mean": 0.375, "ci95": [0.25, 0.5]},  # a quarter of resamples is q2 twice, a quarter q1 twice
        "P@2": {"mean": 0.25, "ci95": [0.0, 0.5]},
    }
    assert found["profiles"]["hybrid"]["RR"] == {"mean": 1.0, "ci95": [1.0, 1.0]}
    assert found["per_query"]["bm25"] == {"q1": {"RR": 0.5, "P@2": 0.5}, "q2": {"RR": 0.25, "P@2": 0.0}}


def test_the_comparison_with_the_first() -> None:
    runs = {**RUNS, "same": RUNS["bm25"]}
    evaluation = evaluate(runs, QRELS, QUERIES, ["RR"])
    assert list(evaluation.tests) == ["hybrid", "same"]
    better, same = evaluation.tests["hybrid"]["RR"], evaluation.tests["same"]["RR"]
    assert better.difference == 0.625  # of 0.5 and 0.75
    assert better.ci95 == (0.5, 0.75)
    assert (better.wins, better.losses) == (2, 0)
    assert better.p_randomisation == 0.5  # ++ and --, of four
    assert better.holm_randomisation == 1.0  # of two comparisons
    assert better.holm_t == pytest.approx(2 * better.p_t)
    assert better.against == "bm25"
    assert (same.difference, same.p_randomisation, same.p_t, same.wins) == (0.0, 1.0, 1.0, 0)


def test_pairs_that_are_asked_for() -> None:
    runs = {**RUNS, "same": RUNS["hybrid"]}
    evaluation = evaluate(runs, QRELS, QUERIES, ["RR"], against={"same": "hybrid"})
    assert list(evaluation.tests) == ["same"]
    assert evaluation.tests["same"]["RR"].difference == 0.0
    assert evaluation.tests["same"]["RR"].against == "hybrid"


def test_nothing_to_evaluate_says_what_the_ids_look_like() -> None:
    with pytest.raises(NothingToEvaluate, match=r"none of the 1 queries .* as 'q1'"):
        evaluate(RUNS, QRELS, {"other": "x"}, ["RR"])


def test_the_queries_that_moved_most() -> None:
    """q1 and q9 gain 0.5, q2 gains 0.75, q0 loses 0.5; equal gains are in the order of ids."""
    qrels = {**QRELS, "q0": {"a": 1}, "q9": {"a": 1}}
    runs = {
        "bm25": {**RUNS["bm25"], "q0": ["a"], "q9": ["x", "a"]},
        "hybrid": {**RUNS["hybrid"], "q0": ["x", "a"], "q9": ["a"]},
    }
    compared = evaluate(runs, qrels, qrels, ["RR"]).tests["hybrid"]["RR"]
    assert compared.gained == (("q2", 1.0, 0.25), ("q1", 1.0, 0.5), ("q9", 1.0, 0.5))
    assert compared.lost == (("q0", 0.5, 1.0),)
    assert compared.as_dict()["lost"] == [{"query": "q0", "value": 0.5, "against": 1.0}]


def test_no_more_than_five_queries_are_shown() -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(7)}
    runs = {name: {query: [found] for query in qrels} for name, found in (("none", "x"), ("all", "a"))}
    compared = evaluate(runs, qrels, qrels, ["RR"]).tests["all"]["RR"]
    assert [each.query for each in compared.gained] == ["q0", "q1", "q2", "q3", "q4"]
    assert compared.lost == ()


def test_values_per_segment() -> None:
    """The queries of a segment alone, tests and all; a segment without queries isn't there."""
    evaluation = evaluate(RUNS, QRELS, QUERIES, ["RR"])
    parts = by_segment(evaluation, {"q1": "HEAD", "q2": "TAIL", "q3": "TORSO"})
    assert list(parts) == ["HEAD", "TAIL"]
    assert (parts["HEAD"].queries, parts["HEAD"].mean("bm25", "RR")) == (1, 0.5)
    assert parts["TAIL"].mean("bm25", "RR") == 0.25
    assert parts["TAIL"].tests["hybrid"]["RR"].difference == 0.75
    assert parts["TAIL"].tests["hybrid"]["RR"].against == "bm25"
    assert "per_query" not in parts["TAIL"].as_dict(per_query=False)


def test_p_of_segments_are_adjusted_together() -> None:
    """Four gains of four: 2 of 16 signs, 0.125; two of two: 0.5. Holm: twice the less, the other as it is."""
    segments = {"h1": "HEAD", "h2": "HEAD", "h3": "HEAD", "h4": "HEAD", "t1": "TAIL", "t2": "TAIL"}
    qrels = {query: {"a": 1} for query in segments}
    runs = {name: {query: [found] for query in segments} for name, found in (("none", "x"), ("all", "a"))}
    parts = by_segment(evaluate(runs, qrels, qrels, ["RR"]), segments)
    head, tail = parts["HEAD"].tests["all"]["RR"], parts["TAIL"].tests["all"]["RR"]
    assert (head.p_randomisation, tail.p_randomisation) == (0.125, 0.5)
    assert (head.holm_randomisation, tail.holm_randomisation) == (0.25, 0.5)


def test_it_draws_itself(tmp_path: Path) -> None:
    evaluation = evaluate(RUNS, QRELS, QUERIES, ["RR", "P@2"])
    evaluation.plot(tmp_path / "evaluation.png")
    assert (tmp_path / "evaluation.png").read_bytes().startswith(b"\x89PNG")


def test_values_a_query_as_a_table() -> None:
    """A text with a tab in it is quoted, as spreadsheets read it."""
    file = StringIO()
    write_per_query(evaluate(RUNS, QRELS, {**QUERIES, "q1": "a\tb"}, ["RR", "P@2"]), file)
    assert file.getvalue().splitlines() == [
        "profile\tquery\ttext\tRR\tP@2",
        'bm25\tq1\t"a\tb"\t0.5\t0.5',
        "bm25\tq2\ttwo\t0.25\t0",
        'hybrid\tq1\t"a\tb"\t1\t0.5',
        "hybrid\tq2\ttwo\t1\t0.5",
    ]
