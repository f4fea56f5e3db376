"""What rules go by: the entropy of a leg's scores, by hand."""

from __future__ import annotations

import math

import pytest

from trifuse.ranker.profiles.features import Features, entropy


def test_entropy_of_two_hits_by_hand() -> None:
    """Scaled to 1 and 0, at a temperature of 0.1: shares 1 / (1 + e⁻¹⁰) and the rest, over ln 2."""
    share = 1 / (1 + math.exp(-10))
    expected = -(share * math.log(share) + (1 - share) * math.log(1 - share)) / math.log(2)
    assert entropy([30.0, 10.0]) == pytest.approx(expected, rel=1e-12)
    assert expected < 0.001


def test_entropy_of_three_hits_by_hand() -> None:
    powers = [1.0, math.exp(-5), math.exp(-10)]
    shares = [power / sum(powers) for power in powers]
    expected = -sum(share * math.log(share) for share in shares) / math.log(3)
    assert entropy([3.0, 2.0, 1.0]) == pytest.approx(expected, rel=1e-12)


def test_entropy_knows_no_scale() -> None:
    scores = [9.0, 4.0, 2.5, 1.0]
    assert entropy([1000 + 7 * score for score in scores]) == pytest.approx(entropy(scores), rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "expected"), [([], None), ([3.0], 0.0), ([2.0, 2.0, 2.0], 1.0), ([0.0] * 500, 1.0)]
)
def test_entropy_of_hits_that_say_nothing_or_one_thing(scores: list[float], expected: float | None) -> None:
    assert entropy(scores) == expected


def test_entropy_is_of_the_first_hundred() -> None:
    scores = [1.0 - place / 1000 for place in range(300)]
    assert entropy(scores) == entropy(scores[:100]) != entropy(scores[:99])


@pytest.mark.parametrize("scores", [[1e308, -1e308, 0.0], [1e-320, 0.0], [5e-324, 0.0, 0.0]])
def test_entropy_of_the_largest_and_smallest_numbers(scores: list[float]) -> None:
    found = entropy(scores)
    assert found is not None
    assert 0 <= found <= 1


def test_features_of_a_search() -> None:
    found = Features.of("  stroke in\tadults ", "HEAD", {"lexical": [2.0, 2.0], "clicks": [1.0]})
    assert found == Features(words=3, segment="HEAD", lexical_entropy=1.0, dense_entropy=None)
