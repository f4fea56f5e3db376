"""Files of judgements and queries: the two layouts of each, and faults named by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation import read_judgements, read_queries
from trifuse.ranker.evaluation.inputs import read_frequencies
from trifuse.ranker.evaluation.report import evaluated_queries

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 2\nq1\t0\td2\t0\n\nq2 Q0  d1   1\n",
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq1\td1\t2\r\nq1\td2\t0\r\nq2\td1\t1\r\n",
        "q1\td1\t2\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_judgements_of_both_layouts(tmp_path: Path, content: str, packed: bool) -> None:
    file = tmp_path / "qrels"
    file.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert read_judgements(file) == QRELS


def test_ids_may_hold_spaces_between_tabs_and_grades_may_be_negative(tmp_path: Path) -> None:
    file = tmp_path / "qrels"
    file.write_text("q 1\t0\td 1\t-2\n")
    assert read_judgements(file) == {"q 1": {"d 1": -2}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q1 0 d1 1\nq1 d1 1\n", r"qrels, line 2: 3 columns, expected 4 columns as in the lines before"),
        ("q1 d1\n", r"qrels, line 1: 2 columns, expected 4 columns or 3"),
        ("q1 0 d1 high\n", r"qrels, line 1: the grade is 'high', expected a whole number"),
        ("q\td\ts\nq1\td1\t0.5\n", r"qrels, line 2: the grade is '0.5'"),
        ("q1 0 d1 --1\n", r"qrels, line 1: the grade is '--1', expected a whole number$"),
        ("q1 0 d1 1000001\n", r"line 1: the grade is '1000001', expected .* from -1000000 to 1000000$"),
        (f"q1 0 d1 {'9' * 5_000}\n", r"line 1: the grade is '9{40}', expected a whole number from"),
        ("q1 0 d1 1\nq1 0 d1 2\n", r"qrels, line 2: document 'd1' of query 'q1' was judged 1 before, and 2"),
        ("", r"there are no judgements"),
        ("query-id\tcorpus-id\tscore\n", r"there are no judgements"),
    ],
)
def test_faulty_judgements(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "qrels"
    file.write_text(content)
    with pytest.raises(UnreadableInput, match=said):
        read_judgements(file)


def test_a_file_that_is_missing_cut_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nowhere"):
        read_judgements(tmp_path / "nowhere")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"q1 0 d1 1\n" * 1000)[:-12])
    with pytest.raises(UnreadableInput, match=r"cut\.gz can't be read"):
        read_judgements(cut)
    latin = tmp_path / "latin"
    latin.write_bytes(b"q1\tstroke\nq2\tfi\xe8vre\n")
    with pytest.raises(UnreadableInput, match="latin, line 2: no UTF-8"):
        read_queries(latin)


@pytest.mark.parametrize(
    "content",
    [
        "q1\tstroke in adults\n2\ta\ttab\n",
        '{"_id": "q1", "text": "stroke in adults"}\n{"id": 2, "text": "a\\ttab", "metadata": {}}\n',
    ],
)
def test_queries_of_both_layouts(tmp_path: Path, content: str) -> None:
    file = tmp_path / "queries.gz"
    file.write_bytes(gzip.compress(content.encode()))
    assert read_queries(file) == {"q1": "stroke in adults", "2": "a\ttab"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q1 stroke\n", r"queries, line 1: no tab, expected `id<tab>text`"),
        ("q1\tstroke\nq1\tagain\n", r"queries, line 2: there is a query 'q1' before"),
        ("q1\t \n", r"queries, line 1: the query 'q1' has no text"),
        ("\tstroke\n", r"queries, line 1: the query '' has no id"),
        ('{"_id": "q1", "text": "x"}\nq2\ty\n', r"queries, line 2: no JSON"),
        ('{"_id": "q1"}\n', r"queries, line 1: expected an object such as"),
        ("", r"there are no queries"),
    ],
)
def test_faulty_queries(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "queries"
    file.write_text(content)
    with pytest.raises(UnreadableInput, match=said):
        read_queries(file)


def test_frequencies_are_counts_or_segments(tmp_path: Path) -> None:
    file = tmp_path / "frequencies.tsv"
    file.write_text("q1\t45\nq 2\t0\n\nq3\tHEAD\n")
    assert read_frequencies(file) == {"q1": 45, "q 2": 0, "q3": "HEAD"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q1 45\n", r"line 1: 'q1 45', expected `id<tab>frequency`"),
        ("q1\t-1\n", r"a whole number of 0 or more, or HEAD, TORSO, TAIL"),
        ("q1\thead\n", "line 1"),
        ("q1\t1\nq1\t1\n", "line 2: there is a query 'q1' before"),
        ("\n", "there are no frequencies"),
    ],
)
def test_faulty_frequencies(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "frequencies.tsv"
    file.write_text(content)
    with pytest.raises(UnreadableInput, match=said):
        read_frequencies(file)


@pytest.mark.parametrize("grade", [0.5, float("nan"), "1", None, 10**30])
def test_grades_that_come_from_no_file(grade: Any) -> None:
    with pytest.raises(UnreadableInput, match="the grade of document 'd' of query 'q' is"):
        evaluated_queries({"q": {"d": grade, "e": 1}}, ["q"])
    assert evaluated_queries({"q": {"d": np.int64(2), "e": True}}, ["q"]) == ["q"]
