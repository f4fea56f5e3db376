"""What of a request holds for which leg. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.body import UserBody
from trifuse.ranker.filters import Lifted, all_of, lift
from trifuse.ranker.nesting import check_nesting
from trifuse.ranker.queries import without_inner_hits
from trifuse.ranker.target import Target
from trifuse.ranker.types import Clause


@dataclass(frozen=True)
class FilterPlan:
    """The filters of a request.

    Args:
        given: beside the body; holds for the lexical leg too.
        alias: of a filtered alias; the server applies it after k-NN, so it is copied inside.
        lifted: what the user's query requires.
        not_lifted: what it requires and can't be classified.
        rescore: the query itself, where the other legs may bring nothing but its matches.
    """

    given: Clause | None
    alias: Clause | None
    post_filter: Clause | None
    lifted: tuple[Clause, ...]
    not_lifted: tuple[str, ...]
    rescore: Clause | None

    @property
    def clause(self) -> Clause | None:
        """What the dense and the click leg are held to; None where nothing is required."""
        parts = [self.given, self.alias, self.post_filter, self.rescore, *self.lifted]
        distinct: list[Clause] = []
        for part in parts:
            if part is not None and part not in distinct:
                distinct.append(part)
        return all_of(distinct)

    def as_dict(self) -> dict[str, Any]:
        """For the response."""
        return {
            "given": self.given,
            "alias": self.alias,
            "post_filter": self.post_filter,
            "lifted": list(self.lifted),
            "not_lifted": list(self.not_lifted),
            "rescored_only": self.rescore is not None,
        }


def plan_filters(user: UserBody, target: Target, given: Mapping[str, Any] | None) -> FilterPlan:
    """The filters of a request.

    Where the query requires something that can't be classified and no filter is given, the other legs
    only re-score what the query matches.

    Raises:
        BodyError: what is given is nested too deep.
    """
    if given is not None:
        check_nesting("filter", given)
    lifted = Lifted() if user.query is None else lift(user.query, is_text=target.is_text)
    rescored = bool(lifted.not_lifted) and given is None
    return FilterPlan(
        given=dict(given) if given is not None else None,
        alias=target.alias_filter,
        post_filter=user.post_filter,
        # The query itself holds all that it requires.
        lifted=() if rescored else lifted.clauses,
        not_lifted=lifted.not_lifted,
        rescore=without_inner_hits(user.query) if rescored else None,
    )
