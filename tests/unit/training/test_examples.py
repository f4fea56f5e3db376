"""Which examples are drawn, and which candidates are no negatives."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import pytest

from trifuse.encoder.errors import TrainingInvalid

pytestmark = pytest.mark.train

QUERIES = {"q1": "heart", "q2": "lung", "q3": "lonely", "q4": "no negatives"}
RELEVANT = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q4": {"a": 1.0}}
NEGATIVES = {"q1": ["x", "y"], "q2": ["x"], "q3": ["x"]}


def _sampled(seed: int, count: int) -> list[Any]:
    from trifuse.encoder.training import sampled_examples

    return list(islice(sampled_examples(QUERIES, RELEVANT, NEGATIVES, str.upper, seed=seed), count))


def test_a_round_asks_each_usable_query_once() -> None:
    found = _sampled(0, 20)
    for start in range(0, 20, 2):
        assert {example.query for example in found[start : start + 2]} == {"heart", "lung"}
    lung = next(example for example in found if example.query == "lung")
    assert (lung.positive, lung.negative) == (("c", "C"), ("x", "X"))


def test_a_grade_of_two_is_drawn_twice_as_often() -> None:
    drawn = Counter(each.positive.id for each in _sampled(0, 6000) if each.query == "heart")
    assert drawn["a"] / drawn["b"] == pytest.approx(2.0, abs=0.2)  # 3 standard errors of 3,000 draws
    assert {each.negative.id for each in _sampled(0, 100) if each.query == "heart"} == {"x", "y"}


def test_the_seed_decides() -> None:
    assert _sampled(1, 50) == _sampled(1, 50) != _sampled(2, 50)


def test_nothing_to_learn_from_is_an_error() -> None:
    from trifuse.encoder.training import sampled_examples

    with pytest.raises(TrainingInvalid, match="none of 4 queries"):
        sampled_examples(QUERIES, {"Q1": {"a": 1.0}}, NEGATIVES, str.upper, seed=0)


def _example(query: str, positive: str, negative: str) -> Any:
    from trifuse.encoder.training import Example, Passage

    return Example(query, Passage(positive, positive), Passage(negative, negative))


def test_what_another_example_says_of_the_same_query_is_no_negative() -> None:
    from trifuse.encoder.training.examples import excluded_candidates

    batch = [_example("heart", "a", "x"), _example("heart", "b", "y"), _example("lung", "c", "a")]
    found = excluded_candidates(batch, batch, ["a", "b", "c", "x", "y", "a"], {})
    assert found == [
        [True, True, False, False, False, True],
        [True, True, False, False, False, True],
        [False, False, True, False, False, False],
    ]


def test_what_is_known_of_a_query_counts_as_well() -> None:
    from trifuse.encoder.training.examples import excluded_candidates

    batch = [_example("heart", "a", "x"), _example("lung", "c", "y")]
    found = excluded_candidates(batch[:1], batch, ["a", "c", "x", "y"], {"heart": {"c", "elsewhere"}})
    assert found == [[True, True, False, False]]


def test_whole_minibatches_only() -> None:
    from trifuse.encoder.training.examples import cut_into

    some = [_example(str(number), "a", "x") for number in range(5)]
    assert [[each.query for each in batch] for batch in cut_into(some, 2)] == [["0", "1"], ["2", "3"]]
