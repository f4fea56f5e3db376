"""Clicked documents that no other leg brought and no page shows: they may be there or not. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trifuse.ranker.fusion import LegHits
from trifuse.ranker.fusion.registry import OF_THEIR_OWN
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.request import Request
from trifuse.ranker.retrieved import Retrieved
from trifuse.ranker.types import Key


def may_stay_unseen(request: Request, guess: Retrieved) -> bool:
    """Whether it changes nothing of the response if clicked documents beyond this page aren't there.

    So it is on a first page where nothing filters, where the score of a document hangs on no other clicked
    one, and where the total is a lower bound without them. Then fetching the page tells of those that count.
    """
    user = request.user
    return (
        user.start == 0
        and request.filters.clause is None
        and _scored_alone(request.profile)
        and (not user.tracks_total or dense_is_full(request, guess))
    )


def tells(page: Collection[Key], documents: Mapping[Key, Mapping[str, Any]], ids: Collection[str]) -> bool:
    """Whether a page's documents, as they were fetched, say that those of these ids are there, each once."""
    there = all(key in documents for key in page if key.id in ids)
    return there and len(documents) <= len(page)


def dense_is_full(request: Request, retrieved: Retrieved) -> bool:
    """Whether the dense leg brought as many documents as any page can show: more may match than are known."""
    return len(retrieved.hits.get("dense", LegHits()).keys) >= request.profile.depth


def _scored_alone(profile: Profile) -> bool:
    """Whether the fused score of a document hangs on no other clicked one: by their ranks, or their range."""
    return profile.combination not in OF_THEIR_OWN and profile.normalization_of("clicks") == "none"
