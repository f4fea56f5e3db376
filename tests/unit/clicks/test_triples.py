"""Training triples in both of TripClick's layouts: made-up lines, laid out as the published files are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.triples import Triple, holds_ids, read_triples, title_and_text

TEXTS = (
    "asthma children\tInhaled steroids in wheeze <eot> We gave 20 children a dose.\u2028They improved. "
    "\tBack pain <eot> A trial of rest. \n"
    "copd\tCOPD care <eot> \tKnee braces <eot> Braces were worn. \n"
)
IDS = "4\t5635494\t11088688\n17\t20\t9283014\n"


def test_triples_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "triples.train.tsv"
    path.write_text(TEXTS)
    first, second = read_triples(path)
    assert first.query == "asthma children"
    assert title_and_text(first.positive) == (
        "Inhaled steroids in wheeze",
        "We gave 20 children a dose.\u2028They improved.",
    )
    assert title_and_text(first.negative) == ("Back pain", "A trial of rest.")
    assert title_and_text(second.positive) == ("COPD care", "")
    assert not holds_ids(path)


def test_triples_of_ids_also_packed(tmp_path: Path) -> None:
    path = tmp_path / "triples.ids.tsv.gz"
    path.write_bytes(gzip.compress(IDS.encode()))
    assert list(read_triples(path)) == [Triple("4", "5635494", "11088688"), Triple("17", "20", "9283014")]
    assert holds_ids(path)


def test_one_word_queries_with_texts_are_no_ids(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("copd\tCOPD care <eot> text\tKnee <eot> text\n")
    assert not holds_ids(tmp_path / "x")


def test_a_line_that_is_no_triple_is_said_with_its_place_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("1\t2\t3\n1\t2\n\n1\t\t3\n4\t5\t6\n")
    with pytest.raises(UnreadableLog, match=r"x:2 is no training triple: .* got 2 columns"):
        list(read_triples(path))
    skipped: list[str] = []
    assert list(read_triples(path, skip=skipped.append)) == [Triple("1", "2", "3"), Triple("4", "5", "6")]
    assert skipped == [f"{path}:2", f"{path}:3", f"{path}:4"]


def test_files_that_hold_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert list(read_triples(tmp_path / "empty")) == []
    with pytest.raises(UnreadableLog, match="holds no training triples"):
        holds_ids(tmp_path / "empty")
    with pytest.raises(UnreadableLog, match="can't be read"):
        list(read_triples(tmp_path / "absent"))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(IDS.encode() * 1000)[:-9])
    with pytest.raises(UnreadableLog, match="can't be read to its end"):
        list(read_triples(tmp_path / "cut.gz"))
