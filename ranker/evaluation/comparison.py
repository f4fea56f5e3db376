"""Two rankings compared query by query: the difference, its interval and tests, what moved most. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from trifuse.ranker.evaluation.significance import bootstrap_ci, holm, randomisation_p, t_test_p

MOVED = 5
"""So many queries that gain, and that lose, most are shown."""


class Moved(NamedTuple):
    """A query whose value differs between two profiles: `value` in the one, `against` in the other."""

    query: str
    value: float
    against: float

    @property
    def difference(self) -> float:
        """What the profile adds; below 0 where it takes away."""
        return self.value - self.against


@dataclass(frozen=True)
class Comparison:
    """A profile compared with another, in one measure.

    Args:
        against: the other, which is the first profile where nothing else is asked for.
        difference, ci95: the mean over queries of this less the other, and its interval.
        p_randomisation, p_t: of the paired tests, two-sided.
        holm_randomisation, holm_t: the same, adjusted for all comparisons in this measure.
        wins, losses: queries in which this is better, and worse.
        gained, lost: the queries in which this is better by most, and worse by most, at most `MOVED` of each.
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
    gained: tuple[Moved, ...] = ()
    lost: tuple[Moved, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        moved = {name: [each._asdict() for each in getattr(self, name)] for name in ("gained", "lost")}
        return {**asdict(self), "ci95": list(self.ci95), **moved}


def compare(
    values: Mapping[str, Mapping[str, float]], pairs: Mapping[str, str], resamples: int
) -> dict[str, Comparison]:
    """Each pair of profiles in one measure, query by query.

    Args:
        values: profile to query to value, the same queries for each.
        pairs: profile to the one that it is compared with.
    """
    moved = {
        profile: [Moved(query, value, values[other][query]) for query, value in values[profile].items()]
        for profile, other in pairs.items()
    }
    differences = {profile: [each.difference for each in rows] for profile, rows in moved.items()}
    by_chance = [randomisation_p(each, resamples=resamples) for each in differences.values()]
    by_t = [t_test_p(each) for each in differences.values()]
    adjusted = zip(by_chance, by_t, holm(by_chance), holm(by_t), strict=True)
    return {
        profile: Comparison(
            against=pairs[profile],
            difference=mean(each),
            ci95=bootstrap_ci(each, resamples=resamples),
            p_randomisation=p,
            p_t=t,
            holm_randomisation=holm_p,
            holm_t=holm_t,
            wins=sum(value > 0 for value in each),
            losses=sum(value < 0 for value in each),
            gained=_most(moved[profile], sign=1),
            lost=_most(moved[profile], sign=-1),
        )
        for (profile, each), (p, t, holm_p, holm_t) in zip(differences.items(), adjusted, strict=True)
    }


def mean(values: Iterable[float]) -> float:
    """The mean of at least one number."""
    row = list(values)
    return sum(row) / len(row)


def _most(rows: Sequence[Moved], *, sign: int) -> tuple[Moved, ...]:
    """The rows that moved most in a direction, ties by the query's id."""
    some = [each for each in rows if sign * each.difference > 0]
    return tuple(sorted(some, key=lambda each: (-sign * each.difference, each.query))[:MOVED])
