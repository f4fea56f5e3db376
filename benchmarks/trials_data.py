"""Patients and trials as an evaluation: notes as queries, and judgements of the trials that are here.

The judgements are those of TREC's track on clinical trials (2021), or of its forerunner (Koopman and Zuccon,
SIGIR 2016): 0 is not relevant, 1 excluded or perhaps, 2 eligible or to be referred. They were made over the
whole registry; what is judged and not here is left out, so that no measure can be set beside TREC's.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from trifuse.ranker.evaluation import Judgements, Queries, read_judgements, read_queries

TRIALS = Path("ctgov_full", "trials.jsonl.gz")
TOPICS = Path("trialgpt_qrels")
QUERIES, QRELS = "trec_2021.queries.jsonl.gz", "trec_2021.qrels.test.tsv.gz"


@dataclass(frozen=True)
class Topics:
    """Query id to a patient's note, and to the judged trials."""

    queries: Queries
    qrels: Judgements

    def over(self, present: Collection[str]) -> Topics:
        """The same, with judgements of these trials alone."""
        here = set(present)
        qrels = {
            query: {trial: grade for trial, grade in grades.items() if trial in here}
            for query, grades in self.qrels.items()
        }
        return Topics(self.queries, qrels)


def read_topics(folder: Path, queries: str = QUERIES, qrels: str = QRELS) -> Topics:
    """The files.

    Args:
        folder: what holds `ctgov_full` and `trialgpt_qrels`.
        queries, qrels: a name in `trialgpt_qrels`, or any path; plain or gzip'd.
    """
    found = (_beside(folder / TOPICS, name) for name in (queries, qrels))
    return Topics(read_queries(next(found)), read_judgements(next(found)))


def _beside(folder: Path, name: str) -> Path:
    return folder / name if Path(name).name == name and (folder / name).exists() else Path(name)
