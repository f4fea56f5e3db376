"""What speaks against trusting a tuned setting, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.result import Mean
from trifuse.ranker.tuning.space import Setting, Space

ALPHA = 0.05
FEW_QUERIES = 25
FEW_JUDGED = 0.5


def of_queries(queries: int) -> Iterator[str]:
    """Whether there are too few."""
    if queries < FEW_QUERIES:
        yield f"{queries} judged queries are few: {FEW_QUERIES} or more tell settings apart better"


def of_split(split: Collection[str], queries: Collection[str]) -> Iterator[str]:
    """Whether ids of a split are of no query that is judged: it holds out fewer than it names."""
    unknown = [id for id in split if id not in queries]
    if unknown:
        yield f"{len(unknown)} of {len(split)} ids of the split are of no judged query, as {unknown[0]!r}"


def of_execution(base: Profile) -> Iterator[str]:
    """Whether the baseline is measured otherwise than it is served."""
    if base.execution == "native":
        yield (
            f"{base.name} is fused by OpenSearch, and was measured as if it were fused here: `trifuse "
            "evaluate` measures what is served"
        )


def of_legs(reasons: Mapping[str, str], states: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Whether a leg that is there to run brought nothing for any query."""
    for leg, reason in reasons.items():
        if "off" not in states.get(leg, {}):
            yield f"{leg} brought nothing for any query: {reason}"


def of_baseline(difference: Mean, p_value: float, against: str) -> Iterator[str]:
    """Whether tuning gained anything on queries that were held out."""
    if difference.mean <= 0:
        yield f"held out, the tuned settings are no better than {against}: keep {against}"
    elif p_value >= ALPHA:
        yield (
            f"held out, the gain on {against} may be chance (p = {p_value:.3f}): the judgements can't tell "
            "the two apart"
        )


def of_equals(equal: int, tried: int) -> Iterator[str]:
    """Whether the best is one of many."""
    if tried > 1 and equal > tried / 2:
        yield (
            f"{equal} of {tried} settings aren't significantly worse than the best: the judgements can't "
            "tell them apart"
        )


def of_judged(judged: float, cutoff: int) -> Iterator[str]:
    """Whether much of what is ranked first has no judgement."""
    if judged < FEW_JUDGED:
        yield (
            f"of the best setting's first {cutoff} documents {judged:.0%} are judged, and the others count "
            "as not relevant: settings that bring new documents look worse than they are"
        )


def of_depth(best: Setting, measure: str, cutoff: int) -> Iterator[str]:
    """Whether the measure looks beyond what is ranked."""
    if cutoff > best.depth:
        yield f"{measure} looks down to rank {cutoff}, and the best ranks {best.depth}: try a larger depth"


def of_edges(best: Setting, space: Space) -> Iterator[str]:
    """Whether the best lies where the space ends."""
    weights = space.clicks_for(best.combination)
    if len(weights) > 1 and best.clicks == max(weights):
        yield f"the best weight of clicks, {best.clicks:g}, is the largest that was tried: try more"
    if len(space.depths) > 1 and best.depth == max(space.depths):
        yield f"the best depth, {best.depth}, is the largest that was tried: try more"
