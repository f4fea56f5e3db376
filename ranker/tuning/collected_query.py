"""What was retrieved once for a query: enough to rank it by any profile, as serving would. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.fuse import fuse, opinion, opinions
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.weights import weighed
from trifuse.ranker.retrieved import DELETED
from trifuse.ranker.tuning.supported import SupportedClicks, opinion_of
from trifuse.ranker.types import Floats, Key

Rows = NDArray[np.int64]

_ID = itemgetter(Key._fields.index("id"))


@dataclass(frozen=True, eq=False)
class LegRows:
    """A leg's hits.

    Args:
        rows: (hits,) positions among a query's documents.
        scores: (hits,) raw.
    """

    rows: Rows
    scores: Floats

    def cut(self, depth: int) -> LegRows:
        """The first so many hits as the server had them, by score, then by key."""
        return LegRows(self.rows[:depth], self.scores[:depth]).best(depth)

    def best(self, count: int) -> LegRows:
        """The best so many, by score, then by key."""
        order = np.lexsort((self.rows, -self.scores))[:count]
        return LegRows(self.rows[order], self.scores[order])

    def reaching(self, floor: float | None) -> LegRows:
        """The hits whose score isn't below the floor."""
        if floor is None:
            return self
        enough = self.scores >= floor
        return LegRows(self.rows[enough], self.scores[enough])


@dataclass(frozen=True, eq=False)
class CollectedQuery:
    """What the legs bring for one query, before anything is fused.

    Args:
        text: what the user typed.
        keys: all documents, in their order: by `_id` first.
        legs: lexical and dense to their hits, in the server's order; a leg that isn't there to run is left
            out.
        evidence: what the click log says, before the other legs support it; None where it wasn't read.
        there: (n,) rows of those clicked documents that were asked for, are there and match the filters.
        settles: whether an id names one document, so that another leg's hit says that it is there.
        filtered: whether clicked documents are held to a filter.
        similarity: what the dense leg's scores were made from.
    """

    text: str
    keys: tuple[Key, ...]
    legs: Mapping[str, LegRows]
    evidence: ClickEvidence | None = None
    there: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    settles: bool = True
    filtered: bool = False
    similarity: Similarity | None = None

    @classmethod
    def of(
        cls,
        text: str,
        legs: Mapping[str, Iterable[tuple[Key, float]]],
        *,
        evidence: ClickEvidence | None = None,
        there: Iterable[Key] = (),
        settles: bool = True,
        filtered: bool = False,
        similarity: Similarity | None = None,
    ) -> CollectedQuery:
        """From each leg's documents and finite scores, best first; a repeated one counts once, as best."""
        found = {leg: _once(pairs) for leg, pairs in legs.items()}
        there = list(there)
        keys = sorted({*there, *(key for pairs in found.values() for key in pairs)})
        row = {key: at for at, key in enumerate(keys)}
        rows = {
            leg: LegRows(
                np.fromiter((row[key] for key in pairs), np.int64, len(pairs)),
                np.fromiter(pairs.values(), np.float64, len(pairs)),
            )
            for leg, pairs in found.items()
        }
        asked = np.unique(np.array([row[key] for key in there], np.int64))
        return cls(text, tuple(keys), rows, evidence, asked, settles, filtered, similarity)

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Id to the first row of those that have it: namesakes are neighbours."""
        return dict(zip(map(_ID, reversed(self.keys)), range(len(self.keys) - 1, -1, -1), strict=True))

    @property
    def has_namesakes(self) -> bool:
        """Whether any id names several documents."""
        return len(self.row_of) < len(self.keys)

    def rows_of(self, ids: Iterable[str]) -> tuple[Rows, Rows]:
        """The rows of some ids, -1 where there is none, and for each the number of its id among them."""
        first = [self.row_of.get(id, -1) for id in ids]
        if not self.has_namesakes:
            return np.array(first, np.int64), np.arange(len(first))
        found = [(row, number) for number, at in enumerate(first) for row in self._namesakes(at)]
        rows, numbers = np.array(found, np.int64).reshape(-1, 2).T
        return rows, numbers

    def _namesakes(self, row: int) -> Iterator[int]:
        yield row
        while 0 <= row < len(self.keys) - 1 and self.keys[row].id == self.keys[row + 1].id:
            row += 1
            yield row

    @property
    def segment(self) -> str | None:
        """The query's segment in the click log; None where the log wasn't read."""
        return self.evidence.segment if self.evidence else None

    def brought(self, profile: Profile) -> dict[str, LegRows]:
        """What each leg brings by a profile; its depth is at most the one that was collected."""
        legs = {
            leg: rows.cut(profile.depth_of(leg))
            for leg, rows in self.legs.items()
            if profile.weights[leg] > 0
        }
        clicks = self._clicks(profile, legs)
        found = legs if clicks is None else {**legs, "clicks": clicks}
        return {leg: rows.reaching(profile.floors.get(leg)) for leg, rows in found.items()}

    def rank(self, profile: Profile) -> list[str]:
        """The ids of the ranking, at most `profile.depth`, best first; of namesakes the best counts."""
        hits = {leg: self._hits(rows) for leg, rows in self.brought(profile).items()}
        segment = self.segment if profile.weights["clicks"] > 0 else None  # the log isn't read for it
        found = weighed(profile, self.text, segment, hits)
        fusion = fuse(found.hits, profile, weights=found.weights, similarity=self.similarity)
        return list(dict.fromkeys(key.id for key in fusion.keys[: profile.depth]))

    def _hits(self, leg: LegRows) -> LegHits:
        keys = tuple(self.keys[row] for row in leg.rows.tolist())
        return LegHits(keys, tuple(leg.scores.tolist()))

    def _clicks(self, profile: Profile, legs: Mapping[str, LegRows]) -> LegRows | None:
        """The click leg, as `retrieved.read_answers` makes it."""
        evidence = self.evidence
        if evidence is None or not evidence.scores or profile.weights_in(self.segment)["clicks"] == 0:
            return None
        number, rows, values = self._clicked(evidence, profile, legs)
        brought, there = np.zeros((2, len(self.keys) + 1), bool)  # the last, -1, is of what isn't there
        for leg in legs.values():
            brought[leg.rows] = True
        there[self.there] = True
        settled = brought[rows]
        asked = np.cumsum(~settled) if self.settles else number + 1
        most = len(rows) if self.filtered else profile.depth + DELETED
        kept = settled | (there[rows] & (asked <= most))
        return LegRows(rows[kept], values[kept]).best(profile.clicks.candidates)

    def _clicked(
        self, evidence: ClickEvidence, profile: Profile, legs: Mapping[str, LegRows]
    ) -> tuple[Rows, Rows, Floats]:
        """The clicked documents, best first: the number of the id, the row (-1: not there), the score."""
        settings = profile.clicks
        if evidence.clicks is not None:
            check_read(evidence.clicks.lookup.settings, settings)
        reaching = {leg: rows.reaching(profile.floors.get(leg)) for leg, rows in legs.items()}
        if self._supported is not None:
            shares = {}
            if settings.support > 0:
                hits = {leg: LegHits((), tuple(rows.scores.tolist())) for leg, rows in reaching.items()}
                shares = opinions(hits, profile, similarity=self.similarity)
            found = {leg: reaching[leg].rows for leg in shares}
            rows, values = self._supported.scores(opinion_of(len(self.keys), found, shares), settings)
            return np.arange(len(rows)), rows, values
        if evidence.clicks is not None and settings.support > 0:
            clicks = replace(evidence.clicks, lookup=replace(evidence.clicks.lookup, settings=settings))
            named = {leg: self._hits(rows) for leg, rows in reaching.items()}
            said = opinion(named, profile, similarity=self.similarity)
            evidence = replace(evidence, clicks=clicks).supported(said)
        rows, number = self.rows_of(evidence.scores)
        scores = np.fromiter(evidence.scores.values(), np.float64, len(evidence.scores))
        return number, rows, scores[number]

    @cached_property
    def _supported(self) -> SupportedClicks | None:
        """The clicks where an id names one document; None where it may name several, or nothing is known."""
        clicks = self.evidence.clicks if self.evidence else None
        return SupportedClicks(clicks, self.keys) if clicks is not None and self.settles else None


def check_read(was: ClickSettings, settings: ClickSettings) -> None:
    """Refuse settings that read the log otherwise than it was read.

    Raises:
        ProfileError: they differ in more than support and the weights of segments.
    """
    if replace(was, support=settings.support, segment_weights=settings.segment_weights) != settings:
        raise ProfileError(
            f"the click log was read by {was}, and the profile reads it by {settings}: collect with that "
            "profile; only support and segment_weights may differ"
        )


def _once(pairs: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    best: dict[Key, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return best
