"""Queries to rankings: the user's own body, dense vectors and the click log, fused.

from trifuse.ranker import ClickStore, HybridRanker, Profile

ranker = HybridRanker(client, encoder, ClickStore(redis, client), Profile(weights={"lexical": 1, "dense": 1}))
ranker.search("trials", {"query": {"match": {"title": "stroke"}}}, text="stroke")
"""

from __future__ import annotations

from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.store import ClickStore
from trifuse.ranker.errors import BodyError, RankerError, SearchRejected
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.store import ProfileStore

__all__ = [
    "BodyError",
    "ClickEvidence",
    "ClickStore",
    "HybridRanker",
    "Profile",
    "ProfileStore",
    "RankerError",
    "SearchRejected",
]
