"""The tables of `simulated.py`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nfcorpus import tell
from rich.console import Console
from rich.table import Table
from simulated_log import SimulatedLog
from simulator import attack

from trifuse.ranker import ClickStore, Profile
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.settings import HEAD, WEIGHTINGS, ClickSettings
from trifuse.ranker.evaluation import Evaluation, evaluate, rank_all
from trifuse.ranker.evaluation.frequencies import log_frequencies, query_segments
from trifuse.ranker.evaluation.measures import largest_cutoff
from trifuse.ranker.evaluation.report import by_segment
from trifuse.ranker.evaluation.runs import evaluation_depth
from trifuse.ranker.profiles.published import published
from trifuse.worker.clicks.rebuild import rebuild

NDCG = "nDCG@10"
CLICKS = 10_000
"""Of an attack."""


def evidence(log: SimulatedLog, half_life_days: float = HALF_LIFE_DAYS) -> dict[str, Any]:
    """How well the clicks of a query order the documents that it showed, by each weighting.

    What a weighting says nothing of comes after the others, as BM25 has it.
    """
    store = ClickStore(log.redis, log.client, half_life_days=half_life_days)
    frequencies = log_frequencies(log.redis, log.index, log.queries, half_life_days=half_life_days)
    clicked = [query for query, count in frequencies.items() if count]
    runs: dict[str, dict[str, Sequence[str]]] = {"bm25": {query: log.pages[query] for query in clicked}}
    for weighting in WEIGHTINGS:
        settings = ClickSettings(m=0, weighting=weighting)
        runs[weighting] = {}
        for query in clicked:
            found = store.lookup(log.index, log.queries[query], budget_s=10.0, settings=settings)
            runs[weighting][query] = list(dict.fromkeys([*found.scores, *log.pages[query]]))
    shown = {
        query: {document: log.judgements.get(query, {}).get(document, 0) for document in log.pages[query]}
        for query in clicked
    }
    against = {"relevant": "bm25", "share": "bm25", "expected": "share"}
    evaluation = evaluate(runs, shown, clicked, [NDCG], against=against)
    return _with_segments(evaluation, query_segments(frequencies))


def heldout(log: SimulatedLog, measures: Sequence[str]) -> dict[str, Any]:
    """Rankings of the development queries, each without its own clicks."""
    queries = {query: log.corpus.queries[query] for query in log.corpus.queries if query in log.corpus.qrels}
    base = Profile()
    profiles = {"hybrid": replace(base, weights={**base.weights, "clicks": 0.0})}
    for weighting in WEIGHTINGS:
        profiles[f"hybrid+log {weighting}"] = replace(base, clicks=replace(base.clicks, weighting=weighting))
    for name in ("lader-no-log", "lader", "lader-no-dense"):
        profiles[name] = published()[name]
    ranker, cutoff = log.ranker(), largest_cutoff(measures)
    runs = {}
    for name, profile in profiles.items():
        started = time.monotonic()
        depth = evaluation_depth(profile, cutoff)
        runs[name] = rank_all(
            ranker, log.index, queries, profile=profile, depth=depth, leave_one_out=True
        ).documents
        tell(f"{name}: {len(queries)} queries in {time.monotonic() - started:.0f} s")
    against = {name: "hybrid" for name in profiles if name.startswith("hybrid+")}
    against |= {"lader": "lader-no-log", "lader-no-dense": "lader-no-log"}
    found = evaluate(runs, log.corpus.qrels, queries, measures, against=against)
    frequencies = log_frequencies(log.redis, log.index, queries)
    return _with_segments(found, query_segments(frequencies, leave_one_out=True))


def by_half_life(log: SimulatedLog, half_lives: Iterable[float]) -> dict[str, Any]:
    """`evidence` of the weighting `expected`, by the half-life in days."""
    found = {}
    for days in half_lives:
        rebuild(log.client, log.redis, log.index, half_life_days=days)
        table = evidence(log, days)
        found[f"{days:g}"] = {
            segment: part["profiles"]["expected"][NDCG] for segment, part in table["segments"].items()
        } | {"all": table["profiles"]["expected"][NDCG]}
        tell(f"half-life of {days:g} days: {found[f'{days:g}']}")
    return found


def attacked(log: SimulatedLog, queries: int) -> dict[str, Any]:
    """What one visitor's 10,000 clicks do to the ranks of documents that aren't relevant."""
    segments = query_segments(log_frequencies(log.redis, log.index, log.corpus.queries))
    chosen = [
        (text, next(d for d in reversed(log.pages[query]) if log.judgements[query].get(d, 0) == 0))
        for query, text in log.corpus.queries.items()
        if segments[query] == HEAD and any(log.judgements[query].get(d, 0) == 0 for d in log.pages[query])
    ][:queries]
    ways: dict[str, dict[str, Any]] = {
        "one visitor": {"visitor": "attacker"},
        "one visitor, 20 spellings": {"visitor": "speller", "spellings": 20},
        "no visitor": {"visitor": None},
    }
    before = [_rank(log, text, document) for text, document in chosen]
    found: dict[str, Any] = {"queries": len(chosen), "median_rank_before": _median(before)}
    for way, how in ways.items():
        rejected: dict[str, int] = {}
        for text, document in chosen:
            taken = log.take(attack(text, document, CLICKS, at=time.time() - 700, **how))
            for reason, count in taken["rejected"].items():
                rejected[reason] = rejected.get(reason, 0) + count
        log.client.indices.refresh(index=f"trifuse-queries-{log.index}")
        after = [_rank(log, text, document) for text, document in chosen]
        found[way] = {
            "median_rank": _median(after),
            "rose": sum(now < then for now, then in zip(after, before, strict=True)),
            "largest_rise": max((then - now for now, then in zip(after, before, strict=True)), default=0),
            "rejected": rejected,
        }
    return found


def _rank(log: SimulatedLog, text: str, document: str) -> int:
    """The document's rank in the default profile; 101 where it isn't among 100."""
    profile = replace(Profile(), click_budget_s=10.0)
    response = log.ranker().search(log.index, {"_source": False}, text=text, size=100, profile=profile)
    ids = [hit["_id"] for hit in response["hits"]["hits"]]
    return ids.index(document) + 1 if document in ids else 101


def _median(ranks: Sequence[int]) -> float:
    return float(statistics.median(ranks)) if ranks else 0.0


def _with_segments(found: Evaluation, segments: Mapping[str, str]) -> dict[str, Any]:
    parts = by_segment(found, segments)
    return {
        **found.as_dict(per_query=False),
        "segments": {segment: part.as_dict(per_query=False) for segment, part in parts.items()},
    }


def show(console: Console, found: Mapping[str, Any]) -> None:
    """Print what `simulated.py` found."""
    for name in ("log", "rebuild"):
        console.print(f"{name}: {found[name]}", soft_wrap=True)
    console.print("curve:", " ".join(f"{rate:.3f}" for rate in found["curve"]), soft_wrap=True)
    for name in ("evidence", "evidence_by_curve", "heldout"):
        table = Table(title=name)
        parts = {"all": found[name], **found[name]["segments"]}
        table.add_column("")
        for segment, part in parts.items():
            table.add_column(f"{segment} ({part['queries']})", justify="right")
        for profile, measures in found[name]["profiles"].items():
            for measure in measures:
                values = (part["profiles"][profile][measure]["mean"] for part in parts.values())
                table.add_row(f"{profile} {measure}", *(f"{value:.3f}" for value in values))
        console.print(table)
    table = Table("half-life, days", "nDCG@10 of the evidence", title="decay")
    for days, row in found["decay"].items():
        table.add_row(days, ", ".join(f"{segment} {value['mean']:.3f}" for segment, value in row.items()))
    console.print(table)
    for name, value in found["attack"].items():
        console.print(f"attack: {name}: {value}", soft_wrap=True)
