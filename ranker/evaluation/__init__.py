"""How good a ranking is: judgements and queries in, measures with confidence intervals and tests out.

from trifuse.ranker.evaluation import evaluate, rank_all, read_judgements, read_queries

qrels, queries = read_judgements("qrels.tsv"), read_queries("queries.jsonl")
profiles = {"bm25": Profile(weights={"lexical": 1}), "hybrid": Profile()}
ranked = {name: rank_all(ranker, "trials", queries, profile=each) for name, each in profiles.items()}
evaluation = evaluate({name: each.documents for name, each in ranked.items()}, qrels, queries)
print(evaluation)
evaluation.plot("evaluation.png")
"""

from __future__ import annotations

from trifuse.ranker.evaluation.inputs import Judgements, Queries, read_judgements, read_queries
from trifuse.ranker.evaluation.report import Evaluation, evaluate
from trifuse.ranker.evaluation.run_files import read_runs, run_lines
from trifuse.ranker.evaluation.runs import Ranked, rank_all

__all__ = [
    "Evaluation",
    "Judgements",
    "Queries",
    "Ranked",
    "evaluate",
    "rank_all",
    "read_judgements",
    "read_queries",
    "read_runs",
    "run_lines",
]
