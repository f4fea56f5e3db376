"""The profiles that are compared on NFCorpus: each backbone with and without the log, and LADER's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trifuse.ranker import Profile
from trifuse.ranker.profiles.published import published

LEGS = {
    "bm25": ("lexical",),
    "dense": ("dense",),
    "hybrid": ("lexical", "dense"),
    "log": ("clicks",),
    "bm25+log": ("lexical", "clicks"),
    "dense+log": ("dense", "clicks"),
    "hybrid+log": ("lexical", "dense", "clicks"),
}
LADER = ("lader-no-log", "lader", "lader-no-dense", "lader-bm25", "lader-hybrid")
AGAINST = {
    "dense": "bm25",
    "hybrid": "bm25",
    "log": "bm25",
    "bm25+log": "bm25",
    "dense+log": "dense",
    "hybrid+log": "hybrid",
    "lader": "lader-no-log",
    "lader-no-dense": "lader-no-log",
    "lader-bm25": "bm25",
    "lader-hybrid": "hybrid",
}
"""What each is compared with: LADER over BM25 without its log ranks as BM25 does."""


def compared_profiles(base: Profile, *, lader: bool = True) -> dict[str, Profile]:
    """Our profile with only the legs of each name, then LADER's.

    The weights of the legs other than the log add up to 1 in each, so that the log weighs the same.
    """
    found = {name: _only(base, name, legs) for name, legs in LEGS.items()}
    if lader:
        named = published()
        found |= {name: named[name] for name in LADER}
    return found


def deeper(profile: Profile, depth: int) -> Profile:
    """The profile with a log that brings so many documents, for a measure that looks so far down."""
    return replace(profile, clicks=replace(profile.clicks, candidates=max(profile.clicks.candidates, depth)))


def _only(base: Profile, name: str, legs: tuple[str, ...]) -> Profile:
    others = sum(base.weights[leg] for leg in legs if leg != "clicks") or 1.0
    weights: Mapping[str, float] = {
        leg: base.weights[leg] if leg == "clicks" else base.weights[leg] / others for leg in legs
    }
    return replace(base, name=name, weights=dict(weights))
