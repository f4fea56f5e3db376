"""One query's documents by legs, ready for many weights at once. Pure NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.fuse import normalized
from trifuse.ranker.fusion import COMBINATIONS, LegHits, Table
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.collected_query import CollectedQuery, LegRows, Rows
from trifuse.ranker.tuning.contenders import MISSING, contenders, places
from trifuse.ranker.types import LEGS, Floats


@dataclass(frozen=True, eq=False)
class Group:
    """Profiles that share a query's table.

    Args:
        profile: one of them.
        brings: names what decides which documents each leg brings, with which raw scores.
        places: (n,) their positions among all profiles.
        weights: (n, legs).
    """

    profile: Profile
    brings: bytes
    places: NDArray[np.int64]
    weights: Floats


def grouped(profiles: Sequence[Profile], segment: str | None) -> Iterator[Group]:
    """Profiles by what they share, for the queries of a segment."""
    weights = np.array([[each.weights_in(segment)[leg] for leg in LEGS] for each in profiles])
    found: dict[tuple[bytes, bytes], list[int]] = {}
    for place, profile in enumerate(profiles):
        found.setdefault(_shared(profile, weights[place]), []).append(place)
    for (brings, _), members in found.items():
        at = np.array(members, np.int64)
        yield Group(profiles[members[0]], brings, at, weights[at])


def _shared(profile: Profile, weights: Floats) -> tuple[bytes, bytes]:
    """What decides which documents are brought and their raw scores, and what decides the terms besides."""
    own = COMBINATIONS[profile.combination].normalization is not None
    scales = [
        profile.combination if own else [profile.normalization_of(leg) for leg in LEGS],
        profile.softmax_temperature,
        profile.bounds,
    ]
    depths = [profile.depth, *map(profile.depth_of, LEGS)]
    brings: list[Any] = [depths, profile.floors, (weights > 0).tolist()]
    if weights[LEGS.index("clicks")] > 0 and profile.clicks.support > 0:  # the other legs weigh in
        lexical, dense = profile.weights["lexical"], profile.weights["dense"]
        both = lexical + dense or 1.0
        brings += [profile.clicks.support, lexical / both, dense / both, scales]
    return msgspec.json.encode(brings), msgspec.json.encode(
        [scales, profile.combination, profile.rank_constant]
    )


class Tables:
    """What one query's groups of profiles have in common, made once."""

    def __init__(self, query: CollectedQuery) -> None:
        self._query = query
        self._brought: dict[bytes, dict[str, LegRows]] = {}
        self._rows: dict[tuple[bytes, int | None], Rows] = {}

    def rows(self, group: Group, k: int | None) -> Rows:
        """The documents that can be among the first k, ascending; None: all that a leg brought."""
        key = (group.brings, k)
        if key not in self._rows:
            legs = [(leg.rows, leg.scores) for leg in self._legs(group).values()]
            found = places(len(self._query.keys), legs)
            rows = np.flatnonzero((found > MISSING).any(axis=1))
            self._rows[key] = rows if k is None else rows[contenders(found[rows], k)]
        return self._rows[key]

    def terms(self, group: Group) -> Floats:
        """(documents, legs) what weights are multiplied by."""
        query, profile = self._query, group.profile
        scaled: Floats = np.zeros((len(query.keys), len(LEGS)))
        ranks = np.zeros(scaled.shape, np.int64)
        for leg, hits in self._legs(group).items():
            column = LEGS.index(leg)
            found = normalized(leg, LegHits((), tuple(hits.scores.tolist())), profile, query.similarity)
            scaled[:, column] = found.min(initial=0.0)  # as `tabulate` fills in what a leg didn't bring
            scaled[hits.rows, column] = found
            ranks[hits.rows, column] = np.arange(1, len(found) + 1)
        return COMBINATIONS[profile.combination].terms(Table(scaled, ranks), profile.rank_constant)

    def _legs(self, group: Group) -> dict[str, LegRows]:
        if group.brings not in self._brought:
            self._brought[group.brings] = self._query.brought(group.profile)
        return self._brought[group.brings]
