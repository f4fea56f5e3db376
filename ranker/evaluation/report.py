"""Several runs over the same queries: means with intervals, and tests against the first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.inputs import Judgements
from trifuse.ranker.evaluation.measures import measure_run
from trifuse.ranker.evaluation.significance import RESAMPLES, bootstrap_ci, holm, randomisation_p, t_test_p


@dataclass(frozen=True)
class Comparison:
    """A profile compared with another, in one measure.

    Args:
        against: the other, which is the first profile where nothing else is asked for.
        difference, ci95: the mean over queries of this less the other, and its interval.
        p_randomisation, p_t: of the paired tests, two-sided.
        holm_randomisation, holm_t: the same, adjusted for all comparisons in this measure.
        wins, losses: queries in which this is better, and worse.
    """

    against: str
    difference: float
    ci95: tuple[float, float]
    p_randomisation: float
    p_t: float
    holm_randomisation: float
    holm_t: float
    wins: int
    losses: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "ci95": list(self.ci95)}


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found.

    Args:
        values: profile to measure to query to value.
        ci95: profile to measure to the interval of the mean.
        tests: profile to measure to its comparison with another profile.
        queries: how many were evaluated.
        excluded: queries that were left out, having no relevant document.
    """

    values: Mapping[str, Mapping[str, Mapping[str, float]]]
    ci95: Mapping[str, Mapping[str, tuple[float, float]]]
    tests: Mapping[str, Mapping[str, Comparison]]
    queries: int
    excluded: int

    def mean(self, profile: str, measure: str) -> float:
        """The mean over queries."""
        return _mean(self.values[profile][measure].values())

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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
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
            "per_query": self.per_query,
        }


def evaluated_queries(qrels: Judgements, queries: Iterable[str]) -> list[str]:
    """The queries that have a relevant document (grade 1 or more), in their order.

    Raises:
        NothingToEvaluate: there are none.
    """
    asked = list(queries)
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
    queries: Iterable[str],
    measures: Sequence[str],
    *,
    against: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """Measure runs over the same queries, and compare them in pairs.

    Args:
        runs: profile to query to document ids, best first; a query that isn't there found nothing.
        queries: those that were asked; those without a relevant document are left out and counted.
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
    ci95 = {
        profile: {
            measure: bootstrap_ci(list(found.values()), resamples=resamples)
            for measure, found in measured.items()
        }
        for profile, measured in values.items()
    }
    first, *others = runs
    pairs = dict.fromkeys(others, first) if against is None else against
    tests: dict[str, dict[str, Comparison]] = {profile: {} for profile in pairs}
    for measure in measures:
        rows = {profile: list(measured[measure].values()) for profile, measured in values.items()}
        for profile, comparison in _compare(rows, pairs, resamples).items():
            tests[profile][measure] = comparison
    return Evaluation(values, ci95, tests, len(kept), len(asked) - len(kept))


def _compare(
    values: Mapping[str, Sequence[float]], pairs: Mapping[str, str], resamples: int
) -> dict[str, Comparison]:
    """Each pair of profiles, query by query."""
    differences = {
        profile: [this - that for this, that in zip(values[profile], values[other], strict=True)]
        for profile, other in pairs.items()
    }
    by_chance = [randomisation_p(each, resamples=resamples) for each in differences.values()]
    by_t = [t_test_p(each) for each in differences.values()]
    adjusted = zip(by_chance, by_t, holm(by_chance), holm(by_t), strict=True)
    return {
        profile: Comparison(
            against=pairs[profile],
            difference=_mean(each),
            ci95=bootstrap_ci(each, resamples=resamples),
            p_randomisation=p,
            p_t=t,
            holm_randomisation=holm_p,
            holm_t=holm_t,
            wins=sum(value > 0 for value in each),
            losses=sum(value < 0 for value in each),
        )
        for (profile, each), (p, t, holm_p, holm_t) in zip(differences.items(), adjusted, strict=True)
    }


def _mean(values: Iterable[float]) -> float:
    row = list(values)
    return sum(row) / len(row)
