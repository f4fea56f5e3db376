"""How good a ranking is: judgements and queries in, measures with confidence intervals and tests out.

from trifuse.ranker.evaluation import evaluate, rank_all, read_judgements, read_queries

qrels, queries = read_judgements("qrels.tsv"), read_queries("queries.jsonl")
bm25 = rank_all(ranker, "trials", queries, profile=Profile(weights={"lexical": 1}), depth=100)
hybrid = rank_all(ranker, "trials", queries, profile=Profile(), depth=100)
runs = {"bm25": bm25.documents, "hybrid": hybrid.documents}
evaluate(runs, qrels, queries, ["nDCG@10", "RR"]).as_dict()
"""

from __future__ import annotations

from trifuse.ranker.evaluation.inputs import Judgements, Queries, read_judgements, read_queries
from trifuse.ranker.evaluation.report import Evaluation, evaluate
from trifuse.ranker.evaluation.runs import Ranked, rank_all, run_lines

__all__ = [
    "Evaluation",
    "Judgements",
    "Queries",
    "Ranked",
    "evaluate",
    "rank_all",
    "read_judgements",
    "read_queries",
    "run_lines",
]
