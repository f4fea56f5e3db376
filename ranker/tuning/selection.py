"""Settings chosen by some queries and looked at on others. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.space import Setting
from trifuse.ranker.types import Floats

Positions = NDArray[np.int64]

Score = Callable[[Sequence[Setting]], Floats]
"""Settings to their values, (settings, queries)."""

Search = Callable[[Score, Positions], list[Setting]]
"""What proposes settings for the queries at these positions: it looks at their values, and at no others."""


@dataclass(frozen=True)
class Part:
    """A part of the queries that were held out, and the setting that was chosen without them.

    Args:
        setting: the best on the other queries.
        train: its mean over those.
        held: (queries,) positions of those held out.
        values: (queries,) what it is worth on them.
    """

    setting: Setting
    train: float
    held: Positions
    values: Floats


def choose(settings: Sequence[Setting], values: Floats, base: Profile) -> int:
    """The position of the best setting by its mean; of equal ones the one that changes least, then the first.

    Args:
        values: (settings, queries), of the queries that are chosen by.
    """
    means = values.mean(axis=1)
    best = np.flatnonzero(means >= means.max() - 1e-12)
    return int(min(best.tolist(), key=lambda at: (settings[at].changes(base), at)))


def nested(
    search: Search, score: Score, parts: Iterable[Positions], queries: int, base: Profile
) -> list[Part]:
    """For each part: search and choose by all other queries, then look at the part.

    Args:
        parts: positions of queries that are held out together.
        queries: how many there are.
    """
    found = []
    for held in parts:
        train = np.setdiff1d(np.arange(queries), held)
        settings = search(score, train)
        values = score(settings)
        best = choose(settings, values[:, train], base)
        found.append(Part(settings[best], float(values[best, train].mean()), held, values[best, held]))
    return found


def in_folds(queries: int, count: int, seed: int) -> list[Positions]:
    """Positions of queries in so many parts of the same size, give or take one, at random.

    Raises:
        NothingToEvaluate: there are fewer queries than parts, or fewer than two parts.
    """
    if count < 2 or count > queries:
        raise NothingToEvaluate(
            f"{queries} judged queries can't be parted into {count} folds: give 2 or more, and no more than "
            "there are queries"
        )
    order = np.random.default_rng(seed).permutation(queries)
    return [np.sort(part) for part in np.array_split(order, count)]


def holding_out(queries: Sequence[str], ids: Iterable[str]) -> list[Positions]:
    """The positions of the queries to hold out, as the only part.

    Raises:
        NothingToEvaluate: none of them, or all, are held out.
    """
    wanted = set(ids)
    held = np.array([at for at, query in enumerate(queries) if query in wanted], np.int64)
    if not 0 < len(held) < len(queries):
        raise NothingToEvaluate(
            f"the split holds out {len(held)} of {len(queries)} judged queries: name some of their ids, as "
            f"{queries[0]!r}, and leave others to choose by"
        )
    return [held]


def parted(queries: Sequence[str], folds: int, split: Iterable[str] | None, seed: int) -> list[Positions]:
    """The positions of queries that are held out together: folds, or the split as the only part.

    Raises:
        NothingToEvaluate: the queries can't be parted so.
    """
    return in_folds(len(queries), folds, seed) if split is None else holding_out(queries, split)


def by_segment(search: Search, segments: Sequence[str | None]) -> Search:
    """A search that also proposes, of settings that differ in the weight of clicks alone, one with the best
    weight for each segment of the log.

    Args:
        segments: of each query; None where it isn't known.
    """

    def searched(score: Score, train: Positions) -> list[Setting]:
        settings = search(score, train)
        values = score(settings)[:, train]
        of = {name: np.array([segments[at] == name for at in train.tolist()]) for name in SEGMENTS}
        alike: dict[Setting, list[int]] = {}
        for at, setting in enumerate(settings):
            alike.setdefault(setting._replace(clicks=0.0), []).append(at)
        for rest, places in alike.items():
            overall = int(values[places].mean(axis=1).argmax())
            chosen = (
                int(values[places][:, inside].mean(axis=1).argmax()) if inside.any() else overall
                for inside in of.values()
            )
            weights = tuple(settings[places[at]].clicks for at in chosen)
            if len(set(weights)) > 1:
                settings.append(rest._replace(clicks=max(weights), segments=weights))
        return settings

    return searched


def fixed(settings: Sequence[Setting]) -> Search:
    """A search that proposes the same settings whatever the judgements: a grid, or random ones."""
    return lambda score, train: list(settings)
