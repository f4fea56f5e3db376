"""What was retrieved once for each query: enough to rank it by any profile, as serving would. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.click_settings import ClickSettings
from trifuse.ranker.clicked import Clicked, read_evidence
from trifuse.ranker.clicks import ClickEvidence
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.fuse import fuse, opinion
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.profiles import Profile
from trifuse.ranker.retrieved import DELETED
from trifuse.ranker.types import LEGS, Floats, Key, LegReport, Similarity
from trifuse.ranker.weights import weighed

Rows = NDArray[np.int64]


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
        """The first so many hits, by score, then by key."""
        rows, scores = self.rows[:depth], self.scores[:depth]
        order = np.lexsort((rows, -scores))
        return LegRows(rows[order], scores[order])

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
    def rows_of(self) -> Mapping[str, Sequence[int]]:
        """Id to the rows of the documents that have it."""
        found: dict[str, list[int]] = {}
        for row, key in enumerate(self.keys):
            found.setdefault(key.id, []).append(row)
        return found

    @property
    def segment(self) -> str | None:
        """The query's segment in the click log; None where the log wasn't read."""
        return self.evidence.segment if self.evidence else None

    def brought(self, profile: Profile) -> dict[str, LegRows]:
        """What each leg brings by a profile; its depth is at most the one that was collected."""
        legs = {
            leg: rows.cut(min(profile.depth, profile.neighbours) if leg == "dense" else profile.depth)
            for leg, rows in self.legs.items()
            if profile.weights[leg] > 0
        }
        clicks = self._clicks(profile, legs)
        found = legs if clicks is None else {**legs, "clicks": clicks}
        return {leg: rows.reaching(profile.floors.get(leg)) for leg, rows in found.items()}

    def rank(self, profile: Profile) -> list[str]:
        """The ids of the ranking, at most `profile.depth`, best first; of namesakes the best counts."""
        hits = {leg: self._hits(rows) for leg, rows in self.brought(profile).items()}
        found = weighed(profile, self.text, self.segment, hits)
        fusion = fuse(found.hits, profile, weights=found.weights, similarity=self.similarity)
        return list(dict.fromkeys(key.id for key in fusion.keys[: profile.depth]))

    def _hits(self, leg: LegRows) -> LegHits:
        keys = tuple(self.keys[row] for row in leg.rows.tolist())
        return LegHits(keys, tuple(leg.scores.tolist()))

    def _clicks(self, profile: Profile, legs: Mapping[str, LegRows]) -> LegRows | None:
        """The click leg, as `retrieved.read_answers` makes it."""
        scores = self._clicked(profile, legs).scores
        if not scores:
            return None
        brought = np.zeros(len(self.keys), bool)
        for leg in legs.values():
            brought[leg.rows] = True
        there = np.zeros(len(self.keys), bool)
        there[self.there] = True
        rows, asked = [], 0
        most = math.inf if self.filtered else profile.depth + DELETED
        for id in scores:
            found = self.rows_of.get(id, ())
            if not self.settles or not any(brought[row] for row in found):
                asked += 1
            rows += [row for row in found if brought[row] or (there[row] and asked <= most)]
        values = np.array([scores[self.keys[row].id] for row in rows], np.float64)
        best = LegRows(np.array(rows, np.int64), values).cut(len(rows))
        candidates = profile.clicks.candidates
        return LegRows(best.rows[:candidates], best.scores[:candidates])

    def _clicked(self, profile: Profile, legs: Mapping[str, LegRows]) -> Clicked:
        if self.evidence is None or profile.weights["clicks"] == 0:
            return Clicked(_OFF)
        evidence = read_by(self.evidence, profile.clicks)
        clicked = read_evidence(evidence, profile)
        if profile.clicks.support == 0 or not clicked.scores:
            return clicked
        hits = {leg: self._hits(rows.reaching(profile.floors.get(leg))) for leg, rows in legs.items()}
        return clicked.supported(opinion(hits, profile, similarity=self.similarity))


_OFF = LegReport("off")


def read_by(evidence: ClickEvidence, settings: ClickSettings) -> ClickEvidence:
    """The same evidence, supported as these settings say.

    Raises:
        ProfileError: the settings read the log otherwise than it was read.
    """
    clicks = evidence.clicks
    if clicks is None:
        return evidence
    lookup = clicks.lookup
    was = replace(lookup.settings, support=settings.support, segment_weights=settings.segment_weights)
    if was != settings:
        raise ProfileError(
            f"the click log was read by {lookup.settings}, and the profile reads it by {settings}: collect "
            "with that profile; only support and segment_weights may differ"
        )
    return replace(evidence, clicks=replace(clicks, lookup=replace(lookup, settings=settings)))


@dataclass(frozen=True, eq=False)
class Collected:
    """All queries of an evaluation, retrieved once.

    Args:
        index: what was searched.
        queries: query id to what was collected.
        profile: says how the click log was read, and which vector field was searched.
        depth: hits taken from each leg: a profile's depth can be no more.
        states: leg to how many queries it fared how in.
        reasons: leg to why it isn't there to run.
    """

    index: str
    queries: Mapping[str, CollectedQuery]
    profile: Profile
    depth: int
    states: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that brought anything for any query."""
        found = {leg for query in self.queries.values() for leg, rows in query.legs.items() if len(rows.rows)}
        if any(query.evidence and query.evidence.scores for query in self.queries.values()):
            found.add("clicks")
        return tuple(leg for leg in LEGS if leg in found)

    @property
    def segments(self) -> Mapping[str, int]:
        """Segment of the click log to how many queries are of it; empty where the log wasn't read."""
        return Counter(query.segment for query in self.queries.values() if query.segment)

    def check(self, profile: Profile) -> None:
        """Refuse a profile by which the queries can't be ranked from what was collected.

        Raises:
            ProfileError: it looks deeper, or at another vector field.
        """
        if profile.depth > self.depth:
            raise ProfileError(
                f"the profile {profile.name!r} has the depth {profile.depth}, and {self.depth} was "
                "collected: collect deeper"
            )
        if profile.vector_field != self.profile.vector_field:
            raise ProfileError(
                f"the profile {profile.name!r} searches {profile.vector_field!r}, and "
                f"{self.profile.vector_field!r} was collected: collect with that profile"
            )

    def rank(self, profile: Profile) -> dict[str, list[str]]:
        """Each query's ranking by a profile, exactly as it would be served: query id to document ids.

        Raises:
            ProfileError: it can't be told from what was collected.
        """
        self.check(profile)
        return {id: query.rank(profile) for id, query in self.queries.items()}


def _once(pairs: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    best: dict[Key, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return best
