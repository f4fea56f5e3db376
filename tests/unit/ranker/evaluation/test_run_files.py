"""Runs as TREC writes them, out and in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation import read_runs, run_lines


def test_a_run_as_trec_writes_it() -> None:
    lines = run_lines({"lexical=1, dense=1": {"q1": ["a", "b"]}})
    assert list(lines) == ["q1 Q0 a 1 2 lexical=1,_dense=1\n", "q1 Q0 b 2 1 lexical=1,_dense=1\n"]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    runs = {"bm25": {"q2": ["b", "a"], "q1": ["c"]}, "mine@3": {"q1": ["a", "c", "b"]}}
    file = tmp_path / "runs.txt.gz"
    file.write_bytes(gzip.compress("".join(run_lines(runs)).encode()))
    assert read_runs(file) == runs


def test_the_score_orders_then_the_rank(tmp_path: Path) -> None:
    """As trec_eval goes by the score; ties by rank, and documents of one rank as they stand."""
    file = tmp_path / "run.txt"
    file.write_text(
        "q1 Q0 c 1 0.5 theirs\nq1\tQ0\td\t4\t7e-1\ttheirs\nq1 Q0 b 3 0.7 theirs\n\nq1 Q0 e 3 0.7 theirs\n"
        "q1 0 z 9 -2 theirs\n"
    )
    assert read_runs(file) == {"theirs": {"q1": ["b", "e", "d", "c", "z"]}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 a 1 0.5 t\nq1 0 a 1\n", r"line 2: 4 columns, expected 6: `query Q0 document rank score tag`"),
        ("q1 Q0 a 1 high t\n", r"line 1: the score is 'high', expected a finite number"),
        ("q1 Q0 a 1 nan t\n", r"line 1: the score is 'nan', expected a finite number"),
        ("q1 Q0 a first 0.5 t\n", r"line 1: the rank is 'first', expected a whole number"),
        ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", r"line 2: document 'a' of query 'q1' is in the run 't' before"),
        ("\n", r"there is no run in it"),
        ("q1 Q0 \xff", r"line 1: no UTF-8"),
    ],
)
def test_what_is_no_run(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "run.txt"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UnreadableInput, match=said) as error:
        read_runs(file)
    assert str(file) in str(error.value)
