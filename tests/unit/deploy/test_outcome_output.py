"""What `trifuse outcome` tells beside its figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trifuse.deploy.outcome.compare import Comparison, compare
from trifuse.deploy.outcome.labels import Outcomes
from trifuse.deploy.outcome.predict import Prediction

pytest.importorskip("sklearn")


def found(rarer: int) -> Comparison:
    """Of trials of which each part has as many that were stopped, and twice as many that were completed."""
    positive = np.array(([True, True, False] * rarer) * 3)
    splits = [part for part in ("train", "valid", "test") for _ in range(3 * rarer)]
    vectors: Any = np.random.default_rng(0).normal(size=(len(positive), 4)).astype(np.float32)
    return compare({"vectors": vectors}, positive, splits, seed=0)


@pytest.mark.parametrize(("rarer", "cautioned"), [(3, True), (19, True), (20, False)])
def test_few_trials_are_cautioned_of(rarer: int, cautioned: bool) -> None:
    from trifuse.deploy.cli.outcome_output import counts_lines

    first, *more = counts_lines(found(rarer), Outcomes(("COMPLETED",), ("TERMINATED", "WITHDRAWN")))
    assert first.startswith("trials that are COMPLETED, and TERMINATED or WITHDRAWN: train ")
    assert f"test {2 * rarer} and {rarer}" in first
    assert [f"of the rarer outcome {rarer} judge" in line for line in more] == [True] * cautioned


def test_a_probability_is_no_certainty() -> None:
    from rich.console import Console

    from trifuse.deploy.cli.outcome_output import predictions_table

    rows = [Prediction(str(value), value) for value in (0.0001, 0.25, 0.99999)]
    console = Console(width=80)
    with console.capture() as captured:
        console.print(predictions_table(rows, ["COMPLETED"]))
    shown = captured.get()
    assert "<0.001" in shown
    assert " 0.250" in shown
    assert ">0.999" in shown
