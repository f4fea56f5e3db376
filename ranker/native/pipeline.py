"""The search pipeline by which OpenSearch fuses as a profile says. Pure.

https://docs.opensearch.org/latest/search-plugins/search-pipelines/normalization-processor/ and
https://docs.opensearch.org/latest/search-plugins/search-pipelines/score-ranker-processor/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trifuse.ranker.errors import ProfileNotNative
from trifuse.ranker.profiles.profile import Profile

NORMALIZATIONS = ("min_max", "l2", "z_score")
"""The server's."""

MEANS = {
    "weighted_sum": "arithmetic_mean",
    "arithmetic_mean": "arithmetic_mean",
    "geometric_mean": "geometric_mean",
    "harmonic_mean": "harmonic_mean",
}
"""Our combinations to the server's: with weights that sum to 1 its arithmetic mean is the weighted sum."""

Processor = Mapping[str, Any]
"""One processor of a search pipeline: its type to its settings."""


def require_native(profile: Profile) -> None:
    """Refuse a profile that the server's `hybrid` query can't rank by.

    Raises:
        ProfileNotNative: naming every cause.
    """
    causes = "; ".join(_causes(profile))
    if causes:
        raise ProfileNotNative(
            f"the profile {profile.name!r} can't run natively: {causes}; or take the execution 'client'"
        )


def _causes(profile: Profile) -> Iterator[str]:
    legs = [leg for leg, weight in profile.weights.items() if weight > 0]
    if profile.combination not in (*MEANS, "rrf"):
        known = ", ".join((*MEANS, "rrf"))
        yield f"the server has no combination {profile.combination!r}: it is one of {known}"
    if profile.combination != "rrf":
        yield from _normalization_causes(profile, legs)
    for leg in profile.depths:
        yield f"the server takes as many hits from each leg, and {leg} has a depth of its own"
    for leg in profile.floors:
        yield f"the server can't keep a leg's hits below a score out, and {leg} has a floor"
    if profile.rules:
        yield "rules go by what the legs brought, and the server tells that with the answer: leave them out"
    if "clicks" in legs and profile.clicks.support > 0:
        yield (
            f"clicks.support is {profile.clicks.support:g}, which needs the other legs' hits before the "
            "clicks are weighed: give clicks a support of 0, or a weight of 0"
        )


def _normalization_causes(profile: Profile, legs: Sequence[str]) -> Iterator[str]:
    names = {leg: profile.normalization_of(leg) for leg in legs}
    known = ", ".join(NORMALIZATIONS)
    others = {leg: name for leg, name in names.items() if name not in NORMALIZATIONS}
    for leg, name in others.items():
        yield f"the server has no normalization {name!r}, which {leg} has: give all legs one of {known}"
    if not others and len(set(names.values())) > 1:
        each = ", ".join(f"{leg} {name}" for leg, name in names.items())
        yield f"the server normalises all legs alike, and here they differ ({each}): give all legs one"
    if "z_score" in names.values() and MEANS.get(profile.combination) != "arithmetic_mean":
        yield f"the server combines z_score by arithmetic_mean alone, and this is {profile.combination}"


def shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights that sum to 1, as the server wants them.

    >>> shares({"lexical": 3.0, "dense": 1.0})
    {'lexical': 0.75, 'dense': 0.25}
    """
    total = sum(weights.values())
    return {leg: weight / total for leg, weight in weights.items()}


def fusing_pipeline(
    profile: Profile, weights: Mapping[str, float], *, responding: Sequence[Processor] = ()
) -> dict[str, Any]:
    """The pipeline for one search.

    Args:
        weights: leg to its share, for the sub-queries in their order.
        responding: processors of the response, run after fusion.
    """
    parameters: dict[str, Any] = {"weights": list(weights.values())}
    fusing: dict[str, Any]
    if profile.combination == "rrf":
        combination = {
            "technique": "rrf",
            "rank_constant": profile.rank_constant,
            "parameters": parameters,
        }
        fusing = {"score-ranker-processor": {"combination": combination}}
    else:
        combination = {"technique": MEANS[profile.combination], "parameters": parameters}
        normalization = _normalization(profile, list(weights))
        fusing = {"normalization-processor": {"normalization": normalization, "combination": combination}}
    pipeline: dict[str, Any] = {"phase_results_processors": [fusing]}
    if responding:
        pipeline["response_processors"] = [dict(each) for each in responding]
    return pipeline


def _normalization(profile: Profile, legs: Sequence[str]) -> dict[str, Any]:
    name = profile.normalization_of(legs[0])
    if name != "min_max" or not profile.bounds:
        return {"technique": name}
    bounds = [profile.bounds.get(leg, (None, None)) for leg in legs]
    parameters = {
        "lower_bounds": [_bound("min_score", lower) for lower, _ in bounds],
        "upper_bounds": [_bound("max_score", upper) for _, upper in bounds],
    }
    return {"technique": name, "parameters": parameters}


def _bound(key: str, value: float | None) -> dict[str, Any]:
    return {"mode": "ignore"} if value is None else {"mode": "apply", key: float(value)}
