"""Simulated clicks on NFCorpus's training queries, counted as the product does, without its services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from simulator import simulate

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.evaluation import Judgements, Queries
from trifuse.worker.clicks.counting import MIN_VISITORS
from trifuse.worker.clicks.positions import DEFAULT_CURVE

END = 1_764_000_000.0
DAY_S = 86_400
DRIFT = 0.3

Counted = list[list[tuple[str, float, float]]]
"""Of each query: documents, clicks and expected clicks."""


def simulated_counts(
    queries: Queries,
    judgements: Judgements,
    pages: Mapping[str, Sequence[str]],
    *,
    visits: int,
    seed: int,
) -> Counted:
    """What the click store would hold of each query after so many visits; nothing below three visitors.

    One visitor's clicks on one document for one query count once a day; all fade by the half-life.

    Args:
        pages: query to the documents that a search shows.
    """
    # Queries of one normal form are one past query: the first of them has it.
    first = {normalize_query(text): query for query, text in reversed(queries.items())}
    clicks: dict[tuple[str, str], float] = defaultdict(float)
    expected: dict[tuple[str, str], float] = defaultdict(float)
    visitors: dict[str, set[str]] = defaultdict(set)
    counted = set()
    for event in simulate(queries, judgements, pages, seed=seed, sessions=visits, drift=DRIFT, end=END):
        query = first[normalize_query(event.query)]
        faded = 0.5 ** ((END - event.timestamp) / DAY_S / HALF_LIFE_DAYS)
        if event.kind == "impression":
            for document, rate in zip(event.shown, DEFAULT_CURVE, strict=False):
                expected[query, document] += rate * faded
            continue
        once = (event.user, query, event.doc_id, event.timestamp // DAY_S)
        if once not in counted:
            counted.add(once)
            clicks[query, event.doc_id] += faded
            visitors[query].add(event.user)
    found: dict[str, list[tuple[str, float, float]]] = {query: [] for query in queries}
    for (query, document), number in clicks.items():
        if len(visitors[query]) >= MIN_VISITORS:
            found[query].append((document, number, expected[query, document]))
    return list(found.values())
