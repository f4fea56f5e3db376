"""One search, read and resolved; and the body of each of its legs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.encoder.spaces import Similarity
from trifuse.encoder.templates import clean_text
from trifuse.ranker.body import UserBody
from trifuse.ranker.checks import check_bodies
from trifuse.ranker.legs import (
    clicks_body,
    dense_body,
    dense_clause,
    exact_body,
    exact_clause,
    filtered_query,
    lexical_body,
    text_query,
)
from trifuse.ranker.page import page_body, shows_query
from trifuse.ranker.params import UrlParams
from trifuse.ranker.plan import FilterPlan
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import Target
from trifuse.ranker.types import Candidates, Clause, Key
from trifuse.ranker.values import MAX_HITS

_NAMESAKES = 10
"""So many documents of an index may share an id, under several routings."""


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
        profile_version: which version of a stored profile it is; None where it is none.
        profile_note: why a newer one may have been missed.
        exact: where vectors are scored one by one, which documents are: those that the filters match, or the
            best of the lexical leg's matches alone; None where a k-NN index is searched.
    """

    text: str
    user: UserBody
    url: UrlParams
    target: Target
    filters: FilterPlan
    encoded: Encoded
    profile: Profile
    profile_version: int | None = None
    profile_note: str | None = None
    exact: Candidates | None = None

    @property
    def field(self) -> str:
        """The vector field that the search goes by."""
        return self.target.field_of(self.profile.vector_field)

    @property
    def query(self) -> Clause:
        """The lexical query: the user's own, or the text over the fields that were embedded."""
        if self.user.query is not None:
            return self.user.query
        return text_query(clean_text(self.text), self.target.template_fields(self.field))

    @property
    def header(self) -> dict[str, Any]:
        """The header of each leg in `_msearch`."""
        return {"index": self.target.expression, **self.url.header}

    @property
    def similarity(self) -> Similarity | None:
        """What the vectors are compared by; None where there are none."""
        space = self.target.space_of(self.field)
        return space.encoder.similarity if space else None

    def bodies(self) -> dict[str, dict[str, Any]]:
        """Leg to body, for the legs that search and have something to search by."""
        made = {"lexical": self._lexical(), "dense": self._dense()}
        return {leg: body for leg, body in made.items() if body is not None}

    def clauses(self) -> dict[str, Clause]:
        """Leg to query, for the legs of a weight that search; those of clicks come later."""
        dense = self._dense_clause()
        legs: dict[str, Clause] = {}
        if self.profile.weights["lexical"] > 0:
            legs["lexical"] = self._lexical_clause()
        if dense is not None:
            legs["dense"] = dense
        return legs

    def check_bodies(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The searches for those of some clicked documents that are there and match the filters."""
        return check_bodies(self.user, ids, self.filters.clause, indices=len(self.target.indices))

    def clicks_body(self, ids: Sequence[str]) -> dict[str, Any]:
        """The same in one search, which reads the documents' ids and routings."""
        size = min(len(ids) * len(self.target.indices) * _NAMESAKES, MAX_HITS)
        return clicks_body(self.user, ids, self.filters.clause, size=size)

    def page_body(
        self, keys: Sequence[Key], *, by_query: bool = True, size: int | None = None
    ) -> dict[str, Any]:
        """The search for the documents of a page, as the user wants them shown.

        Args:
            by_query: with the user's query beside their ids, if a hit may show anything of it.
            size: how many hits, where documents of the same ids may come along.
        """
        query = self.query if by_query else None
        if not (self.url.shaping or self.target.pipeline or shows_query(self.user, query)):
            query = None
        size = len(keys) if size is None else size
        body = page_body(self.user, query, keys, self.target.hidden_fields(), size=size)
        return {**body, **self.url.shaping}

    def _lexical(self) -> dict[str, Any] | None:
        size = self.profile.depth_of("lexical")
        if self.profile.weights["lexical"] == 0:
            if not self.user.lexical.keys() & {"aggs", "aggregations", "suggest"}:
                return None
            size = 0
        query = self._lexical_clause()
        return lexical_body(self.user, query, size=size, hidden=self.target.hidden_fields())

    def _lexical_clause(self) -> Clause:
        return filtered_query(self.query, self.filters.given)

    def _dense(self) -> dict[str, Any] | None:
        clause, size = self._dense_clause(), self.profile.depth_of("dense")
        if clause is not None and self.exact == "lexical":
            return exact_body(self.user, self.query, clause, size=size)
        return clause and dense_body(self.user, clause, size=size)

    def _dense_clause(self) -> Clause | None:
        vector, field, k = self.encoded.vector, self.field, self.profile.neighbours
        if self.encoded.dense.state != "ok" or vector is None:
            return None
        if self.exact is not None:
            return exact_clause(field, vector.tolist(), self.similarity, self.filters.clause)
        some_lack = bool(self.target.lacks(field))
        return dense_clause(field, vector.tolist(), k, self.filters.clause, ignore_unmapped=some_lack)
