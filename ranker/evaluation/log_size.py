"""How good rankings are with a growing share of the click log, as in figure 3 of LADER. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation.report import Evaluation, by_segment
from trifuse.ranker.profiles.profile import Profile

ALL = "ALL"
WITHOUT = 0.0


@dataclass(frozen=True)
class SizePoint:
    """One share of the log: the mean over queries, and what it adds to no log at all."""

    share: float
    queries: int
    mean: float
    ci95: tuple[float, float]
    difference: float
    difference_ci95: tuple[float, float]


def share_name(share: float) -> str:
    """A share as the name of a run.

    >>> share_name(0.1), share_name(0.125)
    ('10 %', '12.5 %')
    """
    return f"{100 * share:g} %"


def share_runs(profile: Profile, without: Profile, shares: Sequence[float]) -> dict[str, Profile]:
    """Runs by name: without the log first, then the profile with each share of it."""
    runs = {share_name(WITHOUT): without}
    for share in shares:
        runs[share_name(share)] = replace(profile, clicks=replace(profile.clicks, log_share=share))
    return runs


def parse_shares(text: str) -> tuple[float, ...]:
    """Shares from percents, in rising order, each once.

    >>> parse_shares("100,10, 50")
    (0.1, 0.5, 1.0)

    Raises:
        ProfileError: one isn't a number above 0, up to 100.
    """
    try:
        percents = sorted({float(part) for part in text.split(",")})
    except ValueError:
        percents = []
    if not percents or not 0 < percents[0] <= percents[-1] <= 100:
        raise ProfileError(f"can't read shares of the log from {text!r}: give percents such as 10,50,100")
    return tuple(percent / 100 for percent in percents)


def size_lines(
    evaluation: Evaluation, segments: Mapping[str, str], measure: str
) -> dict[str, list[SizePoint]]:
    """A line for all queries and one for each segment that has some.

    Args:
        evaluation: of `share_runs`, each compared with the first.
    """
    parts = {ALL: evaluation, **by_segment(evaluation, segments)}
    return {name: [_point(part, run, measure) for run in part.values] for name, part in parts.items()}


def _point(evaluation: Evaluation, run: str, measure: str) -> SizePoint:
    found = evaluation.tests.get(run, {}).get(measure)
    return SizePoint(
        share=float(run.removesuffix(" %")) / 100,
        queries=evaluation.queries,
        mean=evaluation.mean(run, measure),
        ci95=evaluation.ci95[run][measure],
        difference=found.difference if found else 0.0,
        difference_ci95=found.ci95 if found else (0.0, 0.0),
    )
