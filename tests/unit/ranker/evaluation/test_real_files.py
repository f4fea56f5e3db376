"""The readers on real files: the numbers are those that the data's own description states."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.ranker.evaluation import read_judgements, read_queries

pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("file", "queries", "rows"),
    [
        ("nfcorpus/dev.2-1-0.qrel.gz", 324, 11_385),
        ("nfcorpus/train.2-1-0.qrel.gz", 2_590, 110_575),
        ("trialgpt_qrels/trec_2021.qrels.test.tsv.gz", 75, 35_832),
        ("trialgpt_qrels/sigir.qrels.test.tsv.gz", 58, 3_835),
        ("tripjudge/qrels_4class.txt", 1_136, 12_590),
    ],
)
def test_judgements(data_dir: Path, file: str, queries: int, rows: int) -> None:
    found = read_judgements(data_dir / file)
    assert (len(found), sum(map(len, found.values()))) == (queries, rows)


@pytest.mark.parametrize(
    ("file", "queries"),
    [
        ("nfcorpus/dev.titles.queries.tsv", 325),
        ("nfcorpus/train.titles.queries.tsv", 2_594),
        ("nfcorpus/docs_dev_test.tsv.gz", 3_395),
        ("trialgpt_qrels/trec_2021.queries.jsonl.gz", 75),
        ("trialgpt_qrels/sigir.queries.jsonl.gz", 59),  # one of them isn't judged
    ],
)
def test_queries(data_dir: Path, file: str, queries: int) -> None:
    assert len(read_queries(data_dir / file)) == queries
