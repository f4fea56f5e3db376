"""Weights and settings chosen by judgements, offline, with honest held-out numbers."""

from __future__ import annotations

from trifuse.ranker.tuning.collected import Collected, CollectedQuery
from trifuse.ranker.tuning.collecting import collect

__all__ = ["Collected", "CollectedQuery", "collect"]
