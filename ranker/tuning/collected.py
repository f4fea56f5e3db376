"""What was retrieved once for all queries: enough to rank them by any profile, as serving would. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.collected_query import CollectedQuery
from trifuse.ranker.types import LEGS


@dataclass(frozen=True, eq=False)
class Collected:
    """All queries of an evaluation, retrieved once.

    Args:
        index: what was searched.
        queries: query id to what was collected.
        profile: says how the click log was read, which vector field was searched, and by which body.
        depth: hits taken from each leg: a profile's depth can be no more.
        states: leg to how many queries it fared how in.
        reasons: leg to why it brought nothing for any query.
        vector_field: which vector field was searched; serving: which one the index was served by.
    """

    index: str
    queries: Mapping[str, CollectedQuery]
    profile: Profile
    depth: int
    states: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    vector_field: str | None = None
    serving: str | None = None

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
        searched = profile.vector_field or self.serving
        if searched != self.vector_field:
            raise ProfileError(
                f"the profile {profile.name!r} searches {searched!r}, and "
                f"{self.vector_field!r} was collected: collect with that profile"
            )

    def rank(self, profile: Profile) -> dict[str, list[str]]:
        """Each query's ranking by a profile, exactly as it would be served: query id to document ids.

        Raises:
            ProfileError: it can't be told from what was collected.
        """
        self.check(profile)
        return {id: query.rank(profile) for id, query in self.queries.items()}
