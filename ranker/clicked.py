"""What the click log says of one query, and how the click leg stands by it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trifuse.encoder.templates import clean_text
from trifuse.ranker.clicks import ClickEvidence, SimilarQuery
from trifuse.ranker.profiles import Profile
from trifuse.ranker.target import Target
from trifuse.ranker.types import LegReport


@dataclass(frozen=True)
class Clicked:
    """Clicked documents, of which some may be gone or not match the filters.

    Args:
        report: how the click leg stands: `ok` where there are scores.
        scores: document id to evidence.
        queries: the past queries that it comes from, the heaviest first.
        frequency: how often the query stands in the log; None where the log wasn't read.
        segment: the segment of that frequency; None where the log wasn't read.
    """

    report: LegReport
    scores: Mapping[str, float] = field(default_factory=dict)
    queries: tuple[SimilarQuery, ...] = ()
    frequency: int | None = None
    segment: str | None = None


def why_not_asked(text: str, target: Target, profile: Profile) -> LegReport | None:
    """Why the log isn't read for a query; None where it is."""
    if profile.weights["clicks"] == 0:
        return LegReport("off", f"weight 0 in the profile {profile.name!r}")
    if not target.is_one_name:
        return LegReport("off", "clicks belong to one index or alias, and this is a pattern or a list")
    if not clean_text(text):
        return LegReport("skipped", "the text is empty")
    return None


def read_evidence(evidence: ClickEvidence, profile: Profile) -> Clicked:
    """What a lookup found, as the profile weighs it."""
    took = round(evidence.took_ms)
    if evidence.state == "neutral":
        return Clicked(LegReport("failed", evidence.reason, took))
    found = Clicked(
        LegReport("ok", evidence.reason, took),
        evidence.scores,
        evidence.queries,
        evidence.frequency,
        evidence.segment,
    )
    if profile.weights_in(evidence.segment)["clicks"] == 0:
        why = f"weight 0 for {evidence.segment} queries in the profile {profile.name!r}"
        return replace(found, report=LegReport("off", why, took), scores={}, queries=())
    if not evidence.scores:
        why = evidence.reason or "no clicks for this query or similar ones"
        return replace(found, report=LegReport("empty", why, took))
    return found
