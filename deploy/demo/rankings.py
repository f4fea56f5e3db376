"""One fused response, seen as four rankings: each signal's own, and the fused one. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import msgspec

LEGS = ("lexical", "dense", "clicks")


class Signal(msgspec.Struct, frozen=True):
    """What one signal gave a hit: its rank and score there, the score normalised, and the signal's weight."""

    rank: int
    score: float
    normalized: float
    weight: float


class Ranked(msgspec.Struct, frozen=True):
    """A hit of the fused ranking, from rank 1; `legs` has the signals that found it."""

    rank: int
    id: str
    title: str
    score: float
    legs: dict[str, Signal]


def ranked(response: Mapping[str, Any], *, title: str = "brief_title") -> list[Ranked]:
    """The hits of an explained response; `title` is a field of `_source`."""
    return [
        Ranked(
            rank=rank,
            id=hit["_id"],
            title=str(hit.get("_source", {}).get(title) or ""),
            score=hit["_score"],
            legs={
                leg: Signal(**{name: found[name] for name in Signal.__struct_fields__})
                for leg, found in hit["trifuse"]["legs"].items()
                if found is not None
            },
        )
        for rank, hit in enumerate(response["hits"]["hits"], start=1)
    ]


def by_leg(hits: Sequence[Ranked], leg: str) -> list[Ranked]:
    """The hits that one signal found, in its own order."""
    return sorted((hit for hit in hits if leg in hit.legs), key=lambda hit: hit.legs[leg].rank)


def remarks(hits: Sequence[Ranked], *, rows: int) -> list[str]:
    """What the first rows of the fused ranking owe to vectors and to clicks, in sentences."""
    top = hits[:rows]
    found = []
    missed = [hit.id for hit in top if "dense" in hit.legs and "lexical" not in hit.legs]
    if missed:
        listed = ", ".join(missed)
        found.append(f"Vectors: {len(missed)} of the first {len(top)} aren't in BM25's ranking: {listed}.")
    lifted = [hit for hit in top if "clicks" in hit.legs and _without_clicks(hit) > hit.rank + 1]
    if lifted:
        best = max(lifted, key=lambda hit: _without_clicks(hit) - hit.rank)
        rank = _without_clicks(best)
        found.append(
            f"Clicks: people chose {best.id} for similar queries, which lifts it to rank {best.rank};"
            f" the best that BM25 or vectors have for it is {'none' if rank == inf else rank}."
        )
    return found


def _without_clicks(hit: Ranked) -> float:
    """The better of its ranks by BM25 and by vectors; infinite where neither has it."""
    return min((hit.legs[leg].rank for leg in ("lexical", "dense") if leg in hit.legs), default=inf)
