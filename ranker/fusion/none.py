"""Scores as they are."""

from __future__ import annotations

from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.types import Floats


def none(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to the same: for scores that are comparable by themselves."""
    return scores
