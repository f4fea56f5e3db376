"""Which queries gain from the click log: the features of each, and a regression of the gain on them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.features import FEATURES
from trifuse.ranker.evaluation.regression import RESAMPLES, Regression, regress


@dataclass(frozen=True)
class GainStudy:
    """What `study_gains` found.

    Args:
        regression: of the gain on the features.
        gains: query to its value with the log less that without.
        features: query to feature to value, for the queries that have similar past queries.
        left_out: queries without them: they have no features of the log.
    """

    regression: Regression
    gains: Mapping[str, float]
    features: Mapping[str, Mapping[str, float]]
    left_out: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "regression": self.regression.as_dict(),
            "left_out": self.left_out,
            "per_query": {
                query: {"gain": self.gains[query], **features} for query, features in self.features.items()
            },
        }


def study_gains(
    gains: Mapping[str, float],
    features: Mapping[str, Mapping[str, float]],
    *,
    resamples: int = RESAMPLES,
) -> GainStudy:
    """Fit the gains by the features of the queries that have them.

    Args:
        gains: query to gain, of all queries.
        features: query to `query_features`.

    Raises:
        NothingToEvaluate: too few queries have features.
    """
    if not features:
        raise NothingToEvaluate(
            f"none of the {len(gains)} queries has a similar past query with clicks: load a log with "
            "`trifuse clicks load`, and embed its queries with `trifuse sync`"
        )
    columns = {name: [features[query][name] for query in features] for name in FEATURES}
    fitted = regress(columns, [gains[query] for query in features], resamples=resamples)
    return GainStudy(fitted, gains, features, len(gains) - len(features))
