"""One search, read and resolved; and the body of each of its legs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
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
from trifuse.ranker.signals import Encoded
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
        encoded: the text as a vector.
    """

    text: str
    user: UserBody
    url: UrlParams
    target: Target
    filters: FilterPlan
    encoded: Encoded
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
        """Leg to body, for the legs that search and have something to search by."""
        made = {"lexical": self._lexical(), "dense": self._dense()}
        return {leg: body for leg, body in made.items() if body is not None}

    def clicks_body(self, ids: Sequence[str]) -> dict[str, Any]:
        """The search for those of some clicked documents that are there and match the filters."""
        size = min(len(ids) * len(self.target.indices), MAX_DEPTH)
        return clicks_body(self.user, ids, self.filters.clause, size=size)

    def _lexical(self) -> dict[str, Any] | None:
        size = self.profile.depth
        if self.profile.weights["lexical"] == 0:
            if not self.user.lexical.keys() & {"aggs", "aggregations", "suggest"}:
                return None
            size = 0
        query = filtered_query(self.query, self.filters.given)
        return lexical_body(self.user, query, size=size, vector_fields=self.target.vector_fields())

    def _dense(self) -> dict[str, Any] | None:
        vector, field, k = self.encoded.vector, self.profile.vector_field, self.profile.neighbours
        if self.encoded.dense.state != "ok" or vector is None:
            return None
        some_lack = bool(self.target.lacks(field))
        clause = dense_clause(field, vector.tolist(), k, self.filters.clause, ignore_unmapped=some_lack)
        return dense_body(self.user, clause, size=min(k, self.profile.depth))
