"""What tuning found, as an object that prints as tables, draws itself, and goes into JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trifuse.ranker.evaluation.printing import as_text
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.space import Setting

if TYPE_CHECKING:
    from rich.console import Group


class Mean(NamedTuple):
    """A mean over queries, and its 95 % interval."""

    mean: float
    ci95: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"mean": self.mean, "ci95": list(self.ci95)}


class Tried(NamedTuple):
    """A setting and its mean over the queries that settings were chosen by.

    Args:
        p_worse: p of being no worse than the best, adjusted for all settings that were tried.
    """

    setting: Setting
    mean: float
    p_worse: float


class Point(NamedTuple):
    """One value of a choice, all else as in the best setting; or a technique with its own best weights.

    Args:
        train: the mean over the queries that settings were chosen by.
        held: the mean over the queries that were held out; None where there are folds.
        chosen: whether it is the best setting's.
    """

    value: str
    train: Mean
    held: float | None
    chosen: bool


class Fold(NamedTuple):
    """Queries that were held out, and the setting chosen without them.

    Args:
        train: the setting's mean over the other queries.
        heldout, baseline: its mean, and the baseline's, over these.
    """

    setting: Setting
    train: float
    heldout: float
    baseline: float
    queries: int


@dataclass(frozen=True)
class Tuning:
    """What `tune` found.

    Args:
        measure: what was maximised.
        profile: serves the best setting; it is named `tuned`.
        best: the setting, chosen on all queries, or on those that weren't held out.
        fitted: what it is worth on the very queries that it was chosen by: too much.
        folds: what was chosen without each part of the queries.
        heldout: what those settings are worth on their parts: what to expect of new queries.
        baseline: what the profile to be beaten is worth on the same queries.
        against: its name.
        difference: held out less baseline, query by query.
        p_value: of the paired randomisation test of that difference, two-sided.
        equal: the settings that aren't significantly worse than the best, best first.
        settings_tried: how many were scored.
        curve: choice to its values: a number changed alone, a technique with its own best weights.
        judged: the share of the best setting's first documents that are judged at all, down to the cutoff.
        cutoff: to which rank that is.
        per_query: held-out query to what it is worth, and the baseline.
        excluded: queries without a relevant document, which were left out.
        search: grid, random or optuna.
        cautions: what speaks against trusting it.
    """

    measure: str
    profile: Profile
    best: Setting
    fitted: Mean
    folds: tuple[Fold, ...]
    heldout: Mean
    baseline: Mean
    against: str
    difference: Mean
    p_value: float
    equal: tuple[Tried, ...]
    settings_tried: int
    curve: Mapping[str, Sequence[Point]]
    judged: float
    cutoff: int
    per_query: Mapping[str, tuple[float, float]]
    excluded: int
    search: str
    cautions: tuple[str, ...]

    @property
    def train(self) -> float:
        """What the settings of the folds are worth on the queries that they were chosen by, in the mean."""
        return sum(fold.train for fold in self.folds) / len(self.folds)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "measure": self.measure,
            "best": {**_setting(self.best), "weights": self.profile.weights, **self.fitted.as_dict()},
            "train": self.train,
            "heldout": self.heldout.as_dict(),
            "baseline": {"profile": self.against, **self.baseline.as_dict()},
            "difference": self.difference.as_dict(),
            "p_value": self.p_value,
            "settings_tried": self.settings_tried,
            "not_worse": {
                "count": len(self.equal),
                "best": [
                    {**_setting(each.setting), "mean": each.mean, "p_worse": each.p_worse}
                    for each in self.equal[:20]
                ],
            },
            "curve": {
                name: [
                    {"value": p.value, "train": p.train.as_dict(), "heldout": p.held, "chosen": p.chosen}
                    for p in points
                ]
                for name, points in self.curve.items()
            },
            "folds": [{**fold._asdict(), "setting": _setting(fold.setting)} for fold in self.folds],
            "judged": {f"Judged@{self.cutoff}": self.judged},
            "queries": len(self.per_query),
            "excluded": self.excluded,
            "search": self.search,
            "cautions": list(self.cautions),
            "profile": self.profile.as_dict(),
            "per_query": {
                query: {"heldout": value, "baseline": against}
                for query, (value, against) in self.per_query.items()
            },
        }

    def __rich__(self) -> Group:
        """Tables for a console of rich."""
        from trifuse.ranker.tuning.result_tables import tables

        return tables(self)

    def __str__(self) -> str:
        return as_text(self)

    def plot(self, path: str | Path) -> None:
        """Draw the curve around the best setting, as PNG, SVG or PDF.

        Raises:
            ExtraMissing: matplotlib isn't installed.
        """
        from trifuse.ranker.tuning.plots import plot

        plot(self, Path(path))


def _setting(setting: Setting) -> dict[str, Any]:
    return setting._asdict()
