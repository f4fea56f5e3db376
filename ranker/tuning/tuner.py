"""Settings chosen by judgements, and what they are worth on queries that they weren't chosen by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.significance import bootstrap_ci, randomisation_p
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning import cautions
from trifuse.ranker.tuning.bayesian import optuna_search, require_optuna
from trifuse.ranker.tuning.collected import Collected
from trifuse.ranker.tuning.equals import worse_p
from trifuse.ranker.tuning.measures import Measure
from trifuse.ranker.tuning.result import Fold, Mean, Point, Tried, Tuning
from trifuse.ranker.tuning.scoring import Judgements, measure_profiles
from trifuse.ranker.tuning.selection import (
    Part,
    Positions,
    Search,
    by_segment,
    choose,
    fixed,
    nested,
    parted,
)
from trifuse.ranker.tuning.space import Setting, Space
from trifuse.ranker.types import Floats

TRIALS = {"random": 500, "optuna": 100}
"""How many settings a search tries, where nothing else is asked for."""

SEARCHES = ("grid", *TRIALS)


def tune(
    collected: Collected,
    qrels: Mapping[str, Mapping[str, int]],
    *,
    measure: str = "nDCG@10",
    baseline: Profile | None = None,
    folds: int = 5,
    split: Iterable[str] | None = None,
    search: str = "grid",
    trials: int | None = None,
    space: Space | None = None,
    segments: bool = False,
    seed: int = 0,
    progress: Callable[[], None] | None = None,
) -> Tuning:
    """Choose weights, normalization and combination by judgements.

    What is reported as held out is nested: each fold is measured by a setting that was searched and chosen
    without it. The setting that is served is chosen on all queries; with `split` it is chosen without
    those, and looked at on them.

        tuning = tune(collected, qrels)
        print(tuning)

    Args:
        qrels: query id to document id to grade.
        measure: `nDCG@10`, `RR`, `P@5`, `R@100`, `AP`, ...: see `Measure.parse`.
        baseline: the profile to beat; None: the one that the legs were collected by. It ranks no deeper than
            they were collected. What isn't tuned is taken from it.
        folds: into so many parts the queries go.
        split: ids of the queries that are held out, in the place of folds.
        search: `grid`: the whole space; `random`: so many `trials` of it; `optuna`: so many in each fold.
        segments: also try a weight of clicks for each segment of the click log.
        seed: of folds and searches.
        progress: called after each query, each time that settings are scored.

    Raises:
        NothingToEvaluate: no query has a relevant document, or there are too few for the folds.
        MeasureUnknown, ProfileError, ExtraMissing: what was asked for can't be done.
    """
    asked = evaluated_queries({id: dict(grades) for id, grades in qrels.items()}, collected.queries)
    base = baseline or collected.profile
    base = replace(base, depth=min(base.depth, collected.depth), body=None)
    searched = (space or Space()).within(collected, base)
    scored = _Scored(collected, {id: qrels[id] for id in asked}, Measure.parse(measure), base, progress)
    everything = np.arange(len(asked))
    split = None if split is None else list(split)
    parts = parted(asked, folds, split, seed)
    chosen_by = everything if split is None else np.setdiff1d(everything, parts[0])
    proposals = _search(search, searched, trials, seed)
    if segments:
        proposals = by_segment(proposals, [collected.queries[id].segment for id in asked])
    found = nested(proposals, scored, parts, len(asked), base)
    settings = proposals(scored, chosen_by)
    values = scored(settings)[:, chosen_by]
    place = choose(settings, values, base)
    best = settings[place]

    held = np.concatenate([part.held for part in found])
    heldout = np.concatenate([part.values for part in found])
    against = scored.profiles([base])[0]
    gain = _mean(heldout - against[held])
    p_value = randomisation_p((heldout - against[held]).tolist())
    settings_tried = len(scored.known)
    tried = _tried(settings, values, place)
    equal = tuple(each for each in tried if each.p_worse >= cautions.ALPHA)
    cutoff = scored.measure.cutoff or 10
    judged = float(scored.profiles([best.profile(base)], Measure("Judged", cutoff)).mean())
    return Tuning(
        measure=measure,
        profile=replace(best.profile(base), body=collected.profile.body),
        best=best,
        fitted=_mean(values[place]),
        folds=tuple(_fold(part, against) for part in found),
        heldout=_mean(heldout),
        baseline=_mean(against[held]),
        against=base.name,
        difference=gain,
        p_value=p_value,
        equal=equal,
        curve={
            name: _curve(points, best, scored, chosen_by, None if split is None else held)
            for name, points in (*searched.around(best), ("technique", _of_techniques(tried)))
        },
        settings_tried=settings_tried,
        judged=judged,
        cutoff=cutoff,
        per_query={
            asked[at]: (float(value), float(against[at]))
            for at, value in sorted(zip(held.tolist(), heldout.tolist(), strict=True))
        },
        excluded=len(collected.queries) - len(asked),
        search=search,
        cautions=(
            *cautions.of_queries(len(asked)),
            *cautions.of_split(split or (), asked),
            *cautions.of_execution(base),
            *cautions.of_legs(collected.reasons, collected.states),
            *cautions.of_baseline(gain, p_value, base.name),
            *cautions.of_equals(len(equal), len(tried)),
            *cautions.of_judged(judged, cutoff),
            *cautions.of_depth(best, measure, cutoff),
            *cautions.of_edges(best, searched),
        ),
    )


class _Scored:
    """Settings to their values, each scored once."""

    def __init__(
        self,
        collected: Collected,
        qrels: Judgements,
        measure: Measure,
        base: Profile,
        progress: Callable[[], None] | None,
    ) -> None:
        self.measure = measure
        self.known: dict[Setting, Floats] = {}
        self._collected = collected
        self._qrels = qrels
        self._base = base
        self._progress = progress

    def __call__(self, settings: Sequence[Setting]) -> Floats:
        """(settings, queries)."""
        new = [setting for setting in dict.fromkeys(settings) if setting not in self.known]
        if new:
            rows = self.profiles([setting.profile(self._base) for setting in new])
            self.known.update(zip(new, rows, strict=True))
        return np.array([self.known[setting] for setting in settings])

    def profiles(self, profiles: Sequence[Profile], measure: Measure | None = None) -> Floats:
        """(profiles, queries)."""
        return measure_profiles(
            self._collected, self._qrels, profiles, measure or self.measure, progress=self._progress
        )


def check_search(name: str) -> None:
    """Refuse a search that can't be done, before the work that it would be done on.

    Raises:
        ProfileError: there is none by that name.
        ExtraMissing: Optuna isn't installed.
    """
    if name not in SEARCHES:
        raise ProfileError(f"there is no search {name!r}: it is one of {', '.join(SEARCHES)}")
    if name == "optuna":
        require_optuna()


def _search(name: str, space: Space, trials: int | None, seed: int) -> Search:
    check_search(name)
    if name == "grid":
        return fixed(space.grid())
    count = TRIALS[name] if trials is None else trials
    if count < 1:
        raise ProfileError(f"{count} trials find nothing: give 1 or more")
    return fixed(space.random(count, seed)) if name == "random" else optuna_search(space, count, seed)


def _tried(settings: Sequence[Setting], values: Floats, best: int) -> list[Tried]:
    """The settings by their means, the best first."""
    rows = zip(settings, values.mean(axis=1).tolist(), worse_p(values, best).tolist(), strict=True)
    return sorted(
        (Tried(*row) for row in rows), key=lambda each: (-each.mean, each.setting != settings[best])
    )


def _fold(part: Part, against: Floats) -> Fold:
    baseline = float(against[part.held].mean())
    return Fold(part.setting, part.train, float(part.values.mean()), baseline, len(part.held))


def _curve(
    points: Sequence[tuple[str, Setting]],
    best: Setting,
    scored: _Scored,
    chosen_by: Positions,
    held: Positions | None,
) -> list[Point]:
    rows = scored([setting for _, setting in points])
    return [
        Point(
            value,
            _mean(row[chosen_by]),
            float(row[held].mean()) if held is not None else None,
            setting == best,
        )
        for (value, setting), row in zip(points, rows, strict=True)
    ]


def _of_techniques(tried: Sequence[Tried]) -> list[tuple[str, Setting]]:
    """Each technique with the best of its settings, of those that were tried, best first."""
    best: dict[str, Setting] = {}
    for each in tried:
        best.setdefault(each.setting.technique, each.setting)
    return list(best.items())


def _mean(values: Floats) -> Mean:
    return Mean(float(values.mean()), bootstrap_ci(values.tolist()))
