"""What holds for every normalization with every combination, whatever the legs brought."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS, Fusion, LegHits, Scaling, Table, combine
from trifuse.ranker.fusion.combination import Combination
from trifuse.ranker.types import Floats, Key

LEGS = ("l", "d", "c", "x")
PAIRS = list(itertools.product(NORMALIZATIONS, COMBINATIONS))

scores = st.floats(width=32, allow_nan=False, allow_infinity=False)
few = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 7.5])  # so that many are equal
pairs = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.one_of(st.none(), scores, few)), max_size=20)
legs_of_pairs = st.fixed_dictionaries(dict.fromkeys(LEGS, pairs))
weights_of_legs = st.fixed_dictionaries(dict.fromkeys(LEGS, st.floats(0.01, 1)))
scalings = st.builds(Scaling, st.floats(0.01, 100), st.tuples(st.none() | scores, st.none() | scores))

Pairs = dict[str, list[tuple[str, float | None]]]


def fused(
    normalization: str, combination: str, legs: Pairs, weights: dict[str, float], scaling: Scaling
) -> Fusion:
    hits = {name: LegHits.of((Key(id, "i"), score) for id, score in each) for name, each in legs.items()}
    technique = COMBINATIONS[combination]
    normalize = technique.normalization or NORMALIZATIONS[normalization]
    normalized = {name: normalize(np.array(each.scores), scaling) for name, each in hits.items()}
    return combine(hits, normalized, weights, technique)


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
@given(legs=legs_of_pairs, weights=weights_of_legs, scaling=scalings, data=st.data())
@settings(deadline=None, max_examples=25)
def test_finite_complete_in_order_and_whatever_the_order_of_hits(
    normalization: str,
    combination: str,
    legs: Pairs,
    weights: dict[str, float],
    scaling: Scaling,
    data: st.DataObject,
) -> None:
    fusion = fused(normalization, combination, legs, weights, scaling)
    assert np.isfinite(fusion.scores).all()
    assert set(fusion.keys) == {
        Key(id, "i") for each in legs.values() for id, score in each if score is not None
    }
    places = list(zip((-fusion.scores).tolist(), fusion.keys, strict=True))
    assert places == sorted(set(places))
    shuffled = {name: data.draw(st.permutations(each)) for name, each in legs.items()}
    again = fused(normalization, combination, shuffled, weights, scaling)
    assert again.keys == fusion.keys
    assert again.scores.tolist() == fusion.scores.tolist()


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
@given(legs=legs_of_pairs, weights=weights_of_legs, scaling=scalings)
@settings(deadline=None, max_examples=25)
def test_as_good_in_every_leg_and_in_one_leg_more_is_never_lower(
    normalization: str, combination: str, legs: Pairs, weights: dict[str, float], scaling: Scaling
) -> None:
    """One document is at least as good as another where each leg has it before the other, or has neither."""
    fusion = fused(normalization, combination, legs, weights, scaling)
    ranks = np.where(fusion.ranks > 0, fusion.ranks, 10_000)
    for one, other in itertools.permutations(range(len(fusion.keys)), 2):
        if (ranks[one] <= ranks[other]).all():
            assert fusion.scores[one] >= fusion.scores[other]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Documents by legs, where a missing document has the lesser of 0 and the leg's lowest."""
    shape = (draw(st.integers(2, 8)), draw(st.integers(1, 5)))
    brought = np.array(
        draw(st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    )
    value = st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 0.001, 0.5, 1.0]))
    values = np.array(draw(st.lists(value, min_size=brought.size, max_size=brought.size)))
    brought, values = brought.reshape(shape), values.reshape(shape)
    least = np.where(brought, values, 0.0).min(axis=0)
    return Table(np.where(brought, values, np.minimum(least, 0.0)), ranks_of(values, brought))


def ranks_of(values: Floats, brought: Floats) -> np.ndarray:
    """Ranks by value, ties by row, of what was brought."""
    order = np.argsort(np.where(brought, -values, np.inf), axis=0, kind="stable")
    return np.where(brought, np.argsort(order, axis=0) + 1, 0)


@pytest.mark.parametrize("name", COMBINATIONS)
@given(table=tables(), data=st.data())
@settings(deadline=None)
def test_a_higher_score_or_one_more_leg_never_lowers_a_rank(
    name: str, table: Table, data: st.DataObject
) -> None:
    """The others' scores staying as they are."""
    documents, legs = table.normalized.shape
    document = data.draw(st.integers(0, documents - 1))
    leg = data.draw(st.integers(0, legs - 1))
    weights = np.array(data.draw(st.lists(st.floats(0, 1), min_size=legs, max_size=legs)))
    better = table.normalized.copy()
    better[document, leg] += data.draw(st.floats(0, 2))
    brought = table.ranks > 0
    brought[document, leg] = True
    raised = Table(better, ranks_of(better, brought))
    before, after = (COMBINATIONS[name](each, weights, 60) for each in (table, raised))
    behind = before < before[document]
    assert (after[behind] <= after[document]).all()
    level = before == before[document]
    assert (after[level] <= after[document]).all()


@pytest.mark.parametrize("name", COMBINATIONS)
@given(table=tables(), data=st.data())
@settings(deadline=None)
def test_a_documents_score_is_the_same_wherever_its_row_is(
    name: str, table: Table, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(table.ranks))))
    weights = np.linspace(0.3, 0.7, table.ranks.shape[1])
    combination: Combination = COMBINATIONS[name]
    shuffled = combination(Table(table.normalized[order], table.ranks[order]), weights, 60)
    assert shuffled.tolist() == combination(table, weights, 60)[order].tolist()
    fortran = Table(np.asfortranarray(table.normalized), np.asfortranarray(table.ranks))
    assert combination(fortran, weights, 60).tolist() == combination(table, weights, 60).tolist()


@pytest.mark.parametrize("name", COMBINATIONS)
@given(table=tables(), factor=st.sampled_from([0.125, 2.0, 64.0]))
@settings(deadline=None)
def test_the_order_depends_on_the_weights_ratios_alone(name: str, table: Table, factor: float) -> None:
    weights = np.linspace(0.3, 0.7, table.ranks.shape[1])
    one, other = (COMBINATIONS[name](table, each, 60) for each in (weights, factor * weights))
    apart = one[:, None] > one + 1e-9  # nearer ones may be rounded to the same
    assert (other[:, None] > other)[apart].all()
