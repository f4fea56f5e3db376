"""Which colour a document has: by its cluster, or by what it has in a field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 19
OTHER = "(other)"
NONE = "(none)"

# fmt: off
_TABLEAU = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2",
    "#17becf", "#bcbd22", "#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5",
    "#c49c94", "#f7b6d2", "#9edae5", "#dbdb8d", "#393b79", "#637939",
)
# fmt: on
_GREY = "#c7c7c7"


@dataclass(frozen=True)
class Colouring:
    """The legend, and each document's place in it.

    Args:
        legend: names, the most frequent first.
        of: n places in the legend.
    """

    legend: Sequence[str]
    of: Sequence[int]

    def colour(self, place: int) -> str:
        """The colour of an entry of the legend."""
        return _GREY if self.legend[place] in (OTHER, NONE) else _TABLEAU[place % len(_TABLEAU)]


def by_value(values: Sequence[Sequence[str]]) -> Colouring:
    """Documents by what they have in a field; of several values by the one that is most frequent in all.

    Upper and lower case are one value, shown as it is spelled most often. What is beyond the 19 most
    frequent is "(other)"; without a value "(none)".
    """
    spelled = Counter(value for found in values for value in found)
    shown: dict[str, str] = {}
    for value, _ in sorted(spelled.items(), key=lambda each: (-each[1], each[0])):
        shown.setdefault(value.casefold(), value)
    documents = Counter(value for found in values for value in {each.casefold() for each in found})
    ranked = sorted(documents, key=lambda value: (-documents[value], value))
    rank = {value: place for place, value in enumerate(ranked)}
    chosen = [min((rank[value.casefold()] for value in found), default=None) for found in values]
    used = Counter(place for place in chosen if place is not None)
    kept = sorted(used, key=lambda place: (-used[place], place))[:MOST]
    names = {place: shown[ranked[place]] for place in kept}
    said = [NONE if place is None else names.get(place, OTHER) for place in chosen]
    legend = [*names.values(), *(name for name in (OTHER, NONE) if name in said)]
    at = {name: place for place, name in enumerate(legend)}
    return Colouring(legend, [at[name] for name in said])
