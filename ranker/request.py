"""One search, read and resolved; and the body of each of its legs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trifuse.encoder.templates import clean_text
from trifuse.ranker.body import UserBody
from trifuse.ranker.legs import (
    clicks_body,
    dense_body,
    dense_clause,
    filtered_query,
    lexical_body,
    text_query,
)
from trifuse.ranker.params import UrlParams
from trifuse.ranker.plan import FilterPlan
from trifuse.ranker.profiles import MAX_DEPTH, Profile
from trifuse.ranker.signals import Signals
from trifuse.ranker.target import Target
from trifuse.ranker.types import Clause


@dataclass(frozen=True)
class Request:
    """One search.

    Args:
        text: what the user typed.
        user: the body, taken apart.
        url: the URL's parameters, taken apart.
        target: the indices.
        filters: what holds for which leg.
        signals: the vector and the clicked documents.
    """

    text: str
    user: UserBody
    url: UrlParams
    target: Target
    filters: FilterPlan
    signals: Signals
    profile: Profile

    @property
    def query(self) -> Clause:
        """The lexical query: the user's own, or the text over the fields that were embedded."""
        fields = self.target.template_fields(self.profile.vector_field)
        return self.user.query or text_query(clean_text(self.text), fields)

    @property
    def header(self) -> dict[str, Any]:
        """The header of each leg in `_msearch`."""
        return {"index": self.target.expression, **self.url.header}

    def bodies(self) -> dict[str, dict[str, Any]]:
        """Leg to body, for the legs that have something to search by."""
        depth, vectors = self.profile.depth, self.target.vector_fields()
        filter = self.filters.clause
        bodies = {}
        if self.profile.weights["lexical"] > 0 or self.user.lexical.keys() & {
            "aggs",
            "aggregations",
            "suggest",
        }:
            size = depth if self.profile.weights["lexical"] > 0 else 0
            query = filtered_query(self.query, self.filters.given)
            bodies["lexical"] = lexical_body(self.user, query, size=size, vector_fields=vectors)
        if self.signals.dense.state == "ok" and self.signals.vector is not None:
            field, k = self.profile.vector_field, self.profile.neighbours
            clause = dense_clause(
                field,
                self.signals.vector.tolist(),
                k,
                filter,
                ignore_unmapped=bool(self.target.lacks(field)),
            )
            bodies["dense"] = dense_body(self.user, clause, size=min(k, depth))
        if self.signals.clicked:
            ids = list(self.signals.clicked)
            size = min(len(ids) * len(self.target.indices), MAX_DEPTH)
            bodies["clicks"] = clicks_body(self.user, ids, filter, size=size)
        return bodies
