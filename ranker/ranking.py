"""What the legs brought, fused, grouped and cut to the page. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trifuse.ranker.fuse import fuse
from trifuse.ranker.fusion import Fusion
from trifuse.ranker.page import collapse, group_values
from trifuse.ranker.request import Request
from trifuse.ranker.retrieved import Retrieved
from trifuse.ranker.types import Key


@dataclass(frozen=True)
class Ranking:
    """One search's ranking.

    Args:
        fusion: every candidate.
        places: in it, of those that are shown.
        groups: document to the value that it is collapsed on; empty where nothing is collapsed.
    """

    fusion: Fusion
    places: tuple[int, ...]
    groups: Mapping[Key, Any] = field(default_factory=dict)

    @property
    def keys(self) -> list[Key]:
        """The page's documents."""
        return [self.fusion.keys[place] for place in self.places]


def rank(request: Request, retrieved: Retrieved) -> Ranking:
    """Fuse the legs, keep the best of each group, and cut out the page.

    Raises:
        BodyError: a document has several values of the field that is collapsed on.
    """
    user, field = request.user, request.user.collapse
    fusion = fuse(retrieved.hits, request.profile, weights=retrieved.weights, similarity=request.similarity)
    groups = group_values(retrieved.raw_hits, field) if field is not None else {}
    places = collapse(fusion.keys, groups) if field is not None else range(len(fusion.keys))
    return Ranking(fusion, tuple(places[user.start : user.start + user.size]), groups)
