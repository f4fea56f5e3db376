"""What the click log says of one query, and how the click leg stands by it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trifuse.encoder.templates import clean_text
from trifuse.ranker.clicks.evidence import ClickEvidence, SimilarQuery
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.target import Target
from trifuse.ranker.types import LegReport


@dataclass(frozen=True)
class Clicked:
    """Clicked documents, of which some may be gone or not match the filters.

    Args:
        report: how the click leg stands: `ok` where there are scores.
        evidence: what the log says; None where it wasn't read.
    """

    report: LegReport
    evidence: ClickEvidence | None = None

    @property
    def scores(self) -> Mapping[str, float]:
        """Document id to evidence; empty where the leg doesn't stand `ok`."""
        return self.evidence.scores if self.evidence and self.report.state == "ok" else {}

    @property
    def queries(self) -> tuple[SimilarQuery, ...]:
        """The past queries that the scores come from."""
        return self.evidence.queries if self.evidence and self.report.state == "ok" else ()

    @property
    def frequency(self) -> int | None:
        """How often the query stands in the log; None where the log wasn't read."""
        return self.evidence.frequency if self.evidence else None

    @property
    def segment(self) -> str | None:
        """The segment of that frequency; None where the log wasn't read."""
        return self.evidence.segment if self.evidence else None

    def supported(self, found: Mapping[str, float]) -> Clicked:
        """The same, where past queries count more whose documents the other legs find, too.

        Args:
            found: document id to what the other legs give it together, in [0, 1].
        """
        if not self.scores or self.evidence is None:
            return self
        return replace(self, evidence=self.evidence.supported(found))


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
    if profile.weights_in(evidence.segment)["clicks"] == 0:
        why = f"weight 0 for {evidence.segment} queries in the profile {profile.name!r}"
        return Clicked(LegReport("off", why, took), evidence)
    if not evidence.scores:
        why = evidence.reason or "no clicks for this query or similar ones"
        return Clicked(LegReport("empty", why, took), evidence)
    return Clicked(LegReport("ok", evidence.reason, took), evidence)
