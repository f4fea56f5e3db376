"""Many profiles measured on many queries at once. Pure NumPy.

Profiles that differ in their weights alone share a query's table of terms (documents by legs), and of it only
the documents that can come out among the first (`contenders`). The values are those of the rankings that
`Collected.rank` gives, which are those that would be served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from trifuse.ranker.fusion import COMBINATIONS
from trifuse.ranker.fusion.combination import weighted
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.collected import Collected
from trifuse.ranker.tuning.collected_query import CollectedQuery, Rows
from trifuse.ranker.tuning.contenders import refined
from trifuse.ranker.tuning.measures import ABSENT, UNJUDGED, Grades, Measure
from trifuse.ranker.tuning.tables import Group, Tables, grouped
from trifuse.ranker.tuning.tops import first
from trifuse.ranker.types import Floats

Judgements = Mapping[str, Mapping[str, int]]
"""Query id to document id to grade."""

_CELLS = 32_768
"""So many scores are made at once: they stay in the processor's cache."""

_DEEPEST = 100
"""To find who can be among more than so many first costs more than it saves."""

_FEWEST = 20
"""For fewer settings than this it does, too."""


def measure_profiles(
    collected: Collected,
    qrels: Judgements,
    profiles: Sequence[Profile],
    measure: Measure,
    *,
    progress: Callable[[], None] | None = None,
) -> Floats:
    """The measure of each query by each profile, (profiles, queries), the queries as in `qrels`.

    Args:
        progress: called after each query.

    Raises:
        ProfileError: a profile can't be told from what was collected.
    """
    together = [place for place, profile in enumerate(profiles) if not profile.rules]
    for profile in profiles:
        collected.check(profile)
    values = np.empty((len(profiles), len(qrels)))
    groups: dict[str | None, list[Group]] = {}
    for column, (id, judged) in enumerate(qrels.items()):
        query = collected.queries[id]
        if query.segment not in groups:
            groups[query.segment] = list(grouped([profiles[place] for place in together], query.segment))
        for places, grades in _ranked(query, judged, groups[query.segment], measure):
            values[np.take(together, places), column] = measure.values(grades, judged)
        for place, profile in enumerate(profiles):
            if profile.rules:
                values[place, column] = measure.values(_grades(query.rank(profile), judged), judged)[0]
        if progress is not None:
            progress()
    return values


def _ranked(
    query: CollectedQuery, judged: Mapping[str, int], groups: Sequence[Group], measure: Measure
) -> Iterator[tuple[Rows, Grades]]:
    """Positions of profiles, and the grades of their rankings, (profiles, ranks)."""
    grades = np.full(len(query.keys) + 1, UNJUDGED, np.int32)  # the last, -1, is of what wasn't found
    rows, number = query.rows_of(judged)
    grades[rows] = np.fromiter(judged.values(), np.int32, len(judged))[number]
    namesakes = query.has_namesakes
    tables = Tables(query)
    for group in groups:
        profile = group.profile
        deepest = min(measure.cutoff or profile.depth, profile.depth)
        k = profile.depth if namesakes else deepest
        prune = k <= _DEEPEST and len(group.places) >= _FEWEST
        rows = tables.rows(group, k if prune else None)
        terms, finish = tables.terms(group), COMBINATIONS[profile.combination].finish
        if prune:
            rows = refined(rows, terms, group.weights, k)
        terms = terms[rows]
        chunk = max(1, _CELLS // max(len(rows), 1))
        for start in range(0, len(group.places), chunk):
            weights = group.weights[start : start + chunk]
            scores = finish(weighted(terms, weights), weights.sum(axis=-1, keepdims=True))
            best = rows[first(scores, k)]
            ranked = _distinct(query, grades, best) if namesakes else grades[best]
            yield group.places[start : start + chunk], ranked


def _distinct(query: CollectedQuery, grades: Grades, best: Rows) -> Grades:
    """Grades of rankings in which each id stands once, as its best document; `ABSENT` at the end."""
    found = np.full(best.shape, ABSENT, np.int32)
    for place, rows in enumerate(best.tolist()):
        distinct: dict[str, int] = {}
        for row in rows:
            distinct.setdefault(query.keys[row].id, row)
        found[place, : len(distinct)] = grades[list(distinct.values())]
    return found


def _grades(ranking: Sequence[str], judged: Mapping[str, int]) -> Grades:
    return np.array([[judged.get(id, UNJUDGED) for id in ranking]], np.int32)
