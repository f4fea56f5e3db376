"""Several runs over the same queries: means with intervals, and tests against the first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.comparison import Comparison, compare, mean
from trifuse.ranker.evaluation.inputs import Judgements, check_grades
from trifuse.ranker.evaluation.measures import DEFAULT_MEASURES, measure_run
from trifuse.ranker.evaluation.significance import RESAMPLES, bootstrap_ci, holm

if TYPE_CHECKING:
    from rich.console import Group

Values = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Profile to measure to query to value."""


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found, as an object that prints as tables, draws itself, and goes into JSON.

    Args:
        values: profile to measure to query to value.
        ci95: profile to measure to the interval of the mean.
        tests: profile to measure to its comparison with another profile.
        queries: how many were evaluated.
        excluded: queries that were left out, having no relevant document.
        texts: query to text, where it is known.
    """

    values: Values
    ci95: Mapping[str, Mapping[str, tuple[float, float]]]
    tests: Mapping[str, Mapping[str, Comparison]]
    queries: int
    excluded: int
    texts: Mapping[str, str] = field(default_factory=dict)

    def mean(self, profile: str, measure: str) -> float:
        """The mean over queries."""
        return mean(self.values[profile][measure].values())

    def differences(self, profile: str, measure: str) -> dict[str, float]:
        """Query to the value of a profile less that of the one it is compared with."""
        against = self.values[self.tests[profile][measure].against][measure]
        return {query: value - against[query] for query, value in self.values[profile][measure].items()}

    @property
    def per_query(self) -> dict[str, dict[str, dict[str, float]]]:
        """Profile to query to measure to value."""
        return {
            profile: {
                query: {measure: values[query] for measure, values in measures.items()}
                for query in next(iter(measures.values()))
            }
            for profile, measures in self.values.items()
        }

    def as_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """For JSON; `per_query` is the longest part of it."""
        found: dict[str, Any] = {
            "profiles": {
                profile: {
                    measure: {"mean": self.mean(profile, measure), "ci95": list(self.ci95[profile][measure])}
                    for measure in measures
                }
                for profile, measures in self.values.items()
            },
            "queries": self.queries,
            "excluded": self.excluded,
            "tests": {
                profile: {measure: each.as_dict() for measure, each in found.items()}
                for profile, found in self.tests.items()
            },
        }
        if per_query:
            found["per_query"] = self.per_query
        return found

    def __rich__(self) -> Group:
        """Tables for a console of rich."""
        from trifuse.ranker.evaluation.report_tables import tables

        return tables(self)

    def __str__(self) -> str:
        from trifuse.ranker.evaluation.printing import as_text

        return as_text(self)

    def plot(self, path: str | Path) -> None:
        """Draw means and intervals, as PNG, SVG or PDF.

        Raises:
            ExtraMissing: matplotlib isn't installed.
        """
        from trifuse.ranker.evaluation.report_plot import plot

        plot(self, path)


def evaluated_queries(qrels: Judgements, queries: Iterable[str]) -> list[str]:
    """The queries that have a relevant document (grade 1 or more), in their order.

    Raises:
        NothingToEvaluate: there are none.
        UnreadableInput: a grade is no whole number, or beyond `MOST_GRADE`.
    """
    asked = list(queries)
    for query in asked:
        check_grades(query, qrels.get(query, {}))
    found = [query for query in asked if any(grade > 0 for grade in qrels.get(query, {}).values())]
    if not found:
        raise NothingToEvaluate(
            f"none of the {len(asked)} queries has a relevant document among the judgements of "
            f"{len(qrels)} queries: their ids must be the same, as {next(iter(qrels), '')!r}"
        )
    return found


def evaluate(
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    qrels: Judgements,
    queries: Mapping[str, str] | Iterable[str],
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    against: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """Measure runs over the same queries, and compare them in pairs.

        print(evaluate({"bm25": bm25.documents, "hybrid": hybrid.documents}, qrels, queries))

    Args:
        runs: profile to query to document ids, best first; a query that isn't there found nothing.
        queries: those that were asked, with their texts if these are to be shown; those without a relevant
            document are left out and counted.
        measures: names of ir-measures.
        against: profile to the one that it is compared with. Without it, all others are compared with the
            first.

    Raises:
        NothingToEvaluate: no query has a relevant document.
        MeasureUnknown, ExtraMissing: see `parse_measures`.
    """
    asked = list(queries)
    kept = evaluated_queries(qrels, asked)
    judged = {query: qrels[query] for query in kept}
    values = {profile: measure_run(measures, judged, run) for profile, run in runs.items()}
    first, *others = runs
    pairs = dict.fromkeys(others, first) if against is None else against
    texts = {query: queries[query] for query in kept} if isinstance(queries, Mapping) else {}
    return replace(_summary(values, pairs, resamples), excluded=len(asked) - len(kept), texts=texts)


def by_segment(
    evaluation: Evaluation, segments: Mapping[str, str], *, resamples: int = RESAMPLES
) -> dict[str, Evaluation]:
    """The same evaluation over the queries of each segment; a segment without queries isn't there.

    Adjusted p are so for all comparisons of a measure in all segments.

    Args:
        segments: query to its segment, of each evaluated query.
    """
    pairs = {
        profile: comparison.against
        for profile, compared in evaluation.tests.items()
        for comparison in compared.values()
    }
    found = {}
    for segment in SEGMENTS:
        values = {
            profile: {
                measure: {query: value for query, value in row.items() if segments[query] == segment}
                for measure, row in measured.items()
            }
            for profile, measured in evaluation.values.items()
        }
        if all(row for measured in values.values() for row in measured.values()):
            found[segment] = replace(_summary(values, pairs, resamples), texts=evaluation.texts)
    return _adjusted(found)


def _adjusted(parts: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """The same with p adjusted over the parts together."""
    tests: dict[str, dict[str, dict[str, Comparison]]] = {
        part: {profile: dict(compared) for profile, compared in each.tests.items()}
        for part, each in parts.items()
    }
    measures = {measure for each in tests.values() for compared in each.values() for measure in compared}
    for measure in measures:
        rows = [compared for each in tests.values() for compared in each.values()]
        by_chance = holm([row[measure].p_randomisation for row in rows])
        by_t = holm([row[measure].p_t for row in rows])
        for row, p_chance, p_t in zip(rows, by_chance, by_t, strict=True):
            row[measure] = replace(row[measure], holm_randomisation=p_chance, holm_t=p_t)
    return {part: replace(each, tests=tests[part]) for part, each in parts.items()}


def _summary(values: Values, pairs: Mapping[str, str], resamples: int) -> Evaluation:
    ci95 = {
        profile: {
            measure: bootstrap_ci(list(row.values()), resamples=resamples)
            for measure, row in measured.items()
        }
        for profile, measured in values.items()
    }
    measures = next(iter(values.values()))
    tests: dict[str, dict[str, Comparison]] = {profile: {} for profile in pairs}
    for measure in measures:
        rows = {profile: measured[measure] for profile, measured in values.items()}
        for profile, comparison in compare(rows, pairs, resamples).items():
            tests[profile][measure] = comparison
    queries = len(next(iter(measures.values())))
    return Evaluation(values, ci95, tests, queries, excluded=0)
