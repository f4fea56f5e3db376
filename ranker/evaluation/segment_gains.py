"""What the click log adds in each segment of the queries, as in tables 1 and 2 of LADER. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trifuse.ranker.evaluation.log_size import ALL
from trifuse.ranker.evaluation.report import Evaluation, by_segment


@dataclass(frozen=True)
class SegmentGain:
    """One measure in one segment: a profile with the log, and one without.

    Args:
        queries: how many are in the segment.
        value, value_ci95: the mean with the log.
        against, against_ci95: the mean without.
        difference, difference_ci95: of the two, query by query.
        relative: the difference as a share of `against`; None where that is 0.
        p: of the paired randomisation test, two-sided; of segments, adjusted (Holm) for their number.
        wins, losses: queries that are better, and worse, with the log.
    """

    queries: int
    value: float
    value_ci95: tuple[float, float]
    against: float
    against_ci95: tuple[float, float]
    difference: float
    difference_ci95: tuple[float, float]
    relative: float | None
    p: float
    wins: int
    losses: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


SegmentGains = dict[str, dict[str, SegmentGain]]
"""`ALL` and each segment that has queries, to measure, to gain."""


def segment_gains(evaluation: Evaluation, segments: Mapping[str, str]) -> SegmentGains:
    """What the second of two runs adds to the first, for all queries and for each segment.

    Args:
        evaluation: of two runs, the first without the log.
        segments: query to segment.
    """
    parts = {ALL: evaluation, **by_segment(evaluation, segments)}
    found: SegmentGains = {name: {} for name in parts}
    without, with_log = evaluation.values
    for measure in evaluation.values[without]:
        for name, part in parts.items():
            test, base = part.tests[with_log][measure], part.mean(without, measure)
            found[name][measure] = SegmentGain(
                queries=part.queries,
                value=part.mean(with_log, measure),
                value_ci95=part.ci95[with_log][measure],
                against=base,
                against_ci95=part.ci95[without][measure],
                difference=test.difference,
                difference_ci95=test.ci95,
                relative=test.difference / base if base else None,
                p=test.holm_randomisation,
                wins=test.wins,
                losses=test.losses,
            )
    return found
