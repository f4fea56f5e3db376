"""Both losses against a reference in plain NumPy, written from the paper's equations 5 and 8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytestmark = pytest.mark.train

Array = NDArray[np.float64]


def cosine(one: Array, other: Array) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def negatives_of(row: int, others: Array, made: Array | None) -> list[Array]:
    """V⁻ of an anchor: what was made for it, and the others of the batch."""
    return [*([made[row]] if made is not None else []), *(v for j, v in enumerate(others) if j != row)]


def printed_5(anchors: Array, positives: Array, made: Array, temperature: float = 1.0) -> list[float]:
    """−log of each row of equation 5: the positive is not in the denominator."""
    return [
        -np.log(
            np.exp(cosine(anchor, positives[row]) / temperature)
            / sum(np.exp(cosine(anchor, v) / temperature) for v in negatives_of(row, anchors, made))
        )
        for row, anchor in enumerate(anchors)
    ]


def printed_8(anchors: Array, positives: Array, made: Array) -> list[float]:
    """−log of each row of equation 8: the numerator is a cosine."""
    return [
        -np.log(
            cosine(anchor, positives[row])
            / sum(np.exp(cosine(anchor, v)) for v in negatives_of(row, anchors, made))
        )
        for row, anchor in enumerate(anchors)
    ]


def trained(anchors: Array, positives: Array, made: Array | None, others: Array, temperature: float) -> float:
    """InfoNCE: the positive is one of those that it is told apart from; the mean of the batch."""
    rows = []
    for row, anchor in enumerate(anchors):
        right = np.exp(cosine(anchor, positives[row]) / temperature)
        wrong = sum(np.exp(cosine(anchor, v) / temperature) for v in negatives_of(row, others, made))
        rows.append(-np.log(right / (right + wrong)))
    return float(np.mean(rows))


def _vectors(seed: int = 0, many: int = 6) -> tuple[Array, Array, Array]:
    """Anchors, positives and negatives, of no particular norm."""
    chance = np.random.default_rng(seed)
    anchors = chance.normal(size=(many, 8))
    return anchors, anchors + chance.normal(size=(many, 8)), chance.normal(size=(many, 8))


def _loss(*vectors: Array, **options: Any) -> float:
    import torch

    from trifuse.encoder.training.trial2vec.losses import info_nce

    def tensor(value: Any) -> Any:
        return torch.tensor(value, dtype=torch.float32) if isinstance(value, np.ndarray) else value

    found = info_nce(*map(tensor, vectors), **{name: tensor(value) for name, value in options.items()})
    return found.item()


@pytest.mark.parametrize("temperature", [1.0, 0.1])
@pytest.mark.parametrize("against", ["anchors", "positives"])
@pytest.mark.parametrize("hard", [True, False])
def test_the_loss_is_info_nce(hard: bool, against: str, temperature: float) -> None:
    """With the anchors as the others, the paper's set of negatives; local vectors are told apart alike."""
    for seed in range(3):
        anchors, positives, made = _vectors(seed)
        others = anchors if against == "anchors" else positives
        expected = trained(anchors, positives, made if hard else None, others, temperature)
        found = _loss(
            anchors,
            positives,
            negatives=made if hard else None,
            others=None if against == "anchors" else positives,
            temperature=temperature,
        )
        assert found == pytest.approx(expected, abs=1e-5)


def test_a_row_is_the_softplus_of_the_printed_row() -> None:
    """log(1 + eˡ), l a row of equation 5: the same trials are pushed together and apart, to an end."""
    anchors, positives, made = _vectors()
    printed = np.array(printed_5(anchors, positives, made))
    expected = np.log1p(np.exp(printed)).mean()
    assert _loss(anchors, positives, negatives=made) == pytest.approx(float(expected), abs=1e-5)


def test_what_is_printed_of_the_local_loss_is_undefined_for_negative_cosines() -> None:
    anchors, positives, made = _vectors()
    assert cosine(anchors[0], -positives[0]) < 0
    with np.errstate(invalid="ignore"):
        assert np.isnan(printed_8(anchors, -positives, made)[0])
    assert np.isfinite(_loss(anchors, -positives, negatives=made))
    # where the cosine is positive the numerator is ψ in place of exp ψ: the rows differ by ψ − log ψ
    row, found = printed_8(anchors, positives, made)[0], printed_5(anchors, positives, made)[0]
    psi = cosine(anchors[0], positives[0])
    assert row - found == pytest.approx(psi - np.log(psi))


def test_by_hand() -> None:
    """Cosines with positive, other, made negative: 1, 0 and 0.6; then −1, 0 and 0."""
    anchors = np.array([[2.0, 0.0], [0.0, 1.0]])
    positives = np.array([[3.0, 0.0], [0.0, -1.0]])
    made = np.array([[0.6, 0.8], [1.0, 0.0]])
    first = np.log(1 + np.exp(0 - 1) + np.exp(0.6 - 1))
    second = np.log(1 + np.exp(0 + 1) + np.exp(0 + 1))
    assert _loss(anchors, positives, negatives=made) == pytest.approx((first + second) / 2, abs=1e-6)


def test_what_is_no_negative_is_left_out() -> None:
    import torch

    anchors, positives, made = _vectors(many=3)
    excluded = torch.zeros(3, 3, dtype=torch.bool)
    excluded[0, 1] = True
    without = torch.tensor([False, True, False])
    rows = []
    for row, others in enumerate(([2], [0, 2], [0, 1])):
        wrong = [anchors[j] for j in others] + ([] if without[row] else [made[row]])
        right = np.exp(cosine(anchors[row], positives[row]))
        rows.append(-np.log(right / (right + sum(np.exp(cosine(anchors[row], v)) for v in wrong))))
    found = _loss(anchors, positives, negatives=made, excluded=excluded, without_negative=without)
    assert found == pytest.approx(float(np.mean(rows)), abs=1e-5)


def test_nothing_to_be_told_apart_from_costs_nothing() -> None:
    """And moves nothing, rather than to where no number is."""
    import torch

    from trifuse.encoder.training.trial2vec.losses import info_nce

    anchors = torch.randn(2, 4, requires_grad=True)
    loss = info_nce(anchors, torch.randn(2, 4), excluded=torch.ones(2, 2, dtype=torch.bool))
    loss.backward()
    assert loss.item() == 0
    assert anchors.grad is not None and anchors.grad.eq(0).all()


def test_the_order_of_the_batch_decides_nothing() -> None:
    anchors, positives, made = _vectors()
    order = np.random.default_rng(1).permutation(len(anchors))
    found = _loss(anchors[order], positives[order], negatives=made[order])
    assert found == pytest.approx(_loss(anchors, positives, negatives=made), abs=1e-6)
