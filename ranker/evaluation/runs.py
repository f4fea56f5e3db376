"""The rankings that are evaluated: every query searched as it would be served, and kept as document ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trifuse.ranker.body import LEXICAL_KEYS, PAGE_KEYS
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.values import MAX_HITS

CLICK_BUDGET_S = 10.0
"""Quality is measured, not speed: a click lookup that a slow machine delays still counts."""

_SHAPES_ONLY = (PAGE_KEYS | LEXICAL_KEYS | {"from", "size", "timeout"}) - {"rescore"}
"""Keys of a body that shape hits, not the ranking."""


@dataclass(frozen=True)
class Ranked:
    """The rankings of one profile.

    Args:
        documents: query to document ids, best first.
        depth: hits taken from each leg, and ranked at most.
        legs: leg to how many queries it fared how in: `{"dense": {"ok": 323, "failed": 1}}`.
        reasons: leg to why it gave nothing the first time, of those that failed or aren't there to run.
    """

    documents: Mapping[str, Sequence[str]]
    depth: int
    legs: Mapping[str, Mapping[str, int]]
    reasons: Mapping[str, str]

    @property
    def failed(self) -> dict[str, int]:
        """Leg to the number of queries in which it failed: the measures are too low by what it lacks."""
        return {leg: count["failed"] for leg, count in self.legs.items() if "failed" in count}


def evaluation_depth(profile: Profile, cutoff: int, *, limit: bool = False) -> int:
    """The depth to evaluate at: the profile's own, or the largest cutoff where that is more.

    Args:
        cutoff: of the measures, the largest.
        limit: keep to the profile's depth, which is what it serves.

    Raises:
        ProfileError: the cutoff is beyond what OpenSearch ranks.
    """
    if cutoff > MAX_HITS and not limit:
        raise ProfileError(
            f"a measure looks down to rank {cutoff}: {MAX_HITS} is the most that can be ranked"
        )
    return profile.depth if limit else max(profile.depth, cutoff)


def patient(profile: Profile, depth: int) -> Profile:
    """The profile at another depth, with time for its click lookups."""
    return replace(
        profile,
        depth=depth,
        k=None if profile.k is None else max(profile.k, depth),
        click_budget_s=max(profile.click_budget_s, CLICK_BUDGET_S),
    )


def ranking_template(body: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of a body bears on the ranking; hits come without their sources."""
    ranking = {key: value for key, value in (body or {}).items() if key not in _SHAPES_ONLY}
    return {**ranking, "_source": False, "track_total_hits": False}


def rank_all(
    ranker: HybridRanker,
    index: str,
    queries: Mapping[str, str],
    *,
    profile: Profile | str,
    depth: int | None = None,
    body: Mapping[str, Any] | None = None,
    leave_one_out: bool = False,
    progress: Callable[[], None] | None = None,
    observe: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> Ranked:
    """Search each query once, and keep the ids of its ranking. A document's `_source` isn't fetched.

    Args:
        queries: id to text.
        profile: by which it ranks, or its name: `mine`, or `mine@3` for that version.
        depth: of each leg and of the ranking; None: the profile's.
        body: the team's own body, with `{{text}}` where the text goes; None: the profile's, if it has one.
        leave_one_out: leave a query's own clicks out of the log.
        progress: called after each query.
        observe: called with each query and its response.

    Raises:
        BodyError, ProfileError, SearchRejected, IndexMissing, SpaceMismatch: as `HybridRanker.search`.
    """
    if isinstance(profile, str):
        profile = ranker.profile_of(profile)
    depth = depth or profile.depth
    profile = patient(profile, depth)
    template = ranking_template(profile.body if body is None else body)
    documents: dict[str, list[str]] = {}
    states: dict[str, Counter[str]] = {}
    reasons: dict[str, str] = {}
    for query, text in queries.items():
        response = ranker.search(
            index,
            fill_template(template, text),
            text=text,
            size=depth,
            from_=0,
            profile=profile,
            leave_one_out=leave_one_out,
        )
        hits = [hit["_id"] for hit in response["hits"]["hits"]]
        documents[query] = list(
            dict.fromkeys(hits)
        )  # judgements know ids alone: of namesakes the best counts
        for leg, report in response["trifuse"]["legs"].items():
            states.setdefault(leg, Counter())[report["state"]] += 1
            if report["state"] in ("failed", "off") and profile.weights[leg] > 0:
                reasons.setdefault(leg, str(report["reason"]))
        if observe is not None:
            observe(query, response)
        if progress is not None:
            progress()
    return Ranked(documents, depth, {leg: dict(count) for leg, count in states.items()}, reasons)
