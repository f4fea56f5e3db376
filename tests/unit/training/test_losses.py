"""The loss, on numbers that are worked out by hand."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.train


def test_the_in_batch_loss_is_a_softmax_over_all_candidates() -> None:
    import torch

    from trifuse.encoder.training.losses import in_batch_nll

    # exp: 2, 1, 1, 4 for the first query, 1, 3, 1, 1 for the second
    scores = torch.log(torch.tensor([[2.0, 1.0, 1.0, 4.0], [1.0, 3.0, 1.0, 1.0]]))
    nothing = torch.zeros(2, 4, dtype=torch.bool)
    found = in_batch_nll(scores, torch.tensor([0, 1]), nothing)
    assert found.item() == pytest.approx((math.log(8 / 2) + math.log(6 / 3)) / 2)


def test_a_candidate_that_is_relevant_too_is_no_negative() -> None:
    import torch

    from trifuse.encoder.training.losses import in_batch_nll

    scores = torch.log(torch.tensor([[2.0, 1.0, 1.0, 4.0]]))
    excluded = torch.tensor([[False, False, False, True]])
    assert in_batch_nll(scores, torch.tensor([0]), excluded).item() == pytest.approx(math.log(4 / 2))


@pytest.mark.parametrize(
    ("negative", "margin", "expected"),
    [
        ((6.0, 8.0), 5.0, 0.0),  # 5 - 10 + 5
        ((0.0, 7.0), 5.0, 3.0),  # 5 - 7 + 5
        ((0.0, 7.0), 1.0, 0.0),
        ((0.0, 2.0), 5.0, 8.0),  # 5 - 2 + 5
        ((3.0, 4.0), 5.0, 5.0),  # as far as the positive: the margin
    ],
)
def test_the_margin_stands_outside_both_distances(
    negative: tuple[float, float], margin: float, expected: float
) -> None:
    """The positive is 5 away, by 3 and 4. Inside the second distance the margin would be no margin."""
    import torch

    from trifuse.encoder.training.losses import triplet

    query, positive = torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])
    found = triplet(query, positive, torch.tensor([negative]), margin)
    assert found.item() == pytest.approx(expected)


def test_the_triplet_loss_is_a_mean_over_rows() -> None:
    import torch

    from trifuse.encoder.training.losses import triplet

    queries, positives = torch.zeros(2, 2), torch.tensor([[3.0, 4.0], [3.0, 4.0]])
    found = triplet(queries, positives, torch.tensor([[6.0, 8.0], [0.0, 7.0]]), 5.0)
    assert found.item() == pytest.approx(1.5)
