"""The learning rate, by hand."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.train


@pytest.mark.parametrize(
    ("step", "factor"),
    [(0, 0.0), (5_000, 0.5), (10_000, 1.0), (15_000, 0.5), (20_000, 0.0), (30_000, 0.0)],
)
def test_the_papers_schedule(step: int, factor: float) -> None:
    from trifuse.encoder.training.schedule import learning_rate_factor

    assert learning_rate_factor(step, 10_000, 20_000) == pytest.approx(factor)


def test_without_warm_up_it_begins_at_the_top() -> None:
    from trifuse.encoder.training.schedule import learning_rate_factor

    assert learning_rate_factor(0, 0, 10) == 1.0
