"""Weights and settings chosen by judgements, offline, with honest held-out numbers.

collected = collect(ranker, "trials", queries, depth=1000)
tuning = tune(collected, qrels)
print(tuning)
tuning.plot("tuning.png")
"""

from __future__ import annotations

from trifuse.ranker.tuning.collected import Collected
from trifuse.ranker.tuning.collected_query import CollectedQuery
from trifuse.ranker.tuning.collecting import collect
from trifuse.ranker.tuning.measures import Measure
from trifuse.ranker.tuning.result import Tuning
from trifuse.ranker.tuning.scoring import measure_profiles
from trifuse.ranker.tuning.space import Setting, Space
from trifuse.ranker.tuning.tuner import tune

__all__ = [
    "Collected",
    "CollectedQuery",
    "Measure",
    "Setting",
    "Space",
    "Tuning",
    "collect",
    "measure_profiles",
    "tune",
]
