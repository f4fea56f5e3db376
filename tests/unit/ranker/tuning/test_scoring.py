"""Many profiles at once are measured as each by itself, whose ranking is the one that is served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation.measures import measure_run
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.tuning import Collected, CollectedQuery
from trifuse.ranker.tuning.measures import Measure
from trifuse.ranker.tuning.scoring import measure_profiles
from trifuse.ranker.types import Key

DEPTH = 20
TECHNIQUES = [(norm, comb) for norm in NORMALIZATIONS for comb in COMBINATIONS]
BASE = Profile(depth=DEPTH)


def weighed(base: Profile, rows: Sequence[Sequence[float]]) -> list[Profile]:
    return [
        replace(base, weights=dict(zip(("lexical", "dense", "clicks"), map(float, row), strict=True)))
        for row in rows
    ]


def drawn(seed: int, count: int = 25) -> list[list[float]]:
    """Weights, some legs left out."""
    rows = np.random.default_rng(seed).dirichlet([1.0, 1.0, 1.0], count)
    rows[1::5, 0], rows[2::5, 1], rows[3::5, 2], rows[4::5, :2] = 0.0, 0.0, 0.0, 0.0
    return [[*row[:2], 5 * row[2] + (not any(row[:2]))] for row in rows.round(2).tolist()]


def one_by_one(
    collected: Collected, qrels: dict[str, dict[str, int]], profiles: Sequence[Profile], name: str
) -> list[list[float]]:
    """Each ranked by itself, and measured by ir-measures."""
    return [list(measure_run([name], qrels, collected.rank(profile))[name].values()) for profile in profiles]


def judged(query: CollectedQuery, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    ids = [f"d{number:03d}" for number in range(40)]
    grades = {id: int(rng.integers(0, 3)) for id in ids if rng.random() < 0.7}
    return {**grades, "d000": 2, "elsewhere": 1}


@pytest.mark.parametrize(("normalization", "combination"), TECHNIQUES)
@pytest.mark.parametrize("support", [0.0, 1.5])
def test_each_technique(
    make_query: Callable[..., CollectedQuery], normalization: str, combination: str, support: float
) -> None:
    queries = {f"q{seed}": make_query(seed) for seed in range(4)}
    qrels = {id: judged(query, at) for at, (id, query) in enumerate(queries.items())}
    base = replace(
        BASE, normalization=normalization, combination=combination, clicks=ClickSettings(support=support)
    )
    collected = Collected("trials", queries, BASE, DEPTH)
    profiles = weighed(base, drawn(5, 60))
    found = measure_profiles(collected, qrels, profiles, Measure.parse("nDCG@5"))
    assert found.tolist() == [pytest.approx(row) for row in one_by_one(collected, qrels, profiles, "nDCG@5")]


@given(
    st.integers(0, 10_000),
    st.sampled_from(["nDCG@3", "RR", "AP", "Judged@5", "R@10"]),
    st.sampled_from(TECHNIQUES),
    st.integers(1, DEPTH),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ties_namesakes_in_two_indices_and_any_depth(
    make_query: Callable[..., CollectedQuery],
    seed: int,
    name: str,
    technique: tuple[str, str],
    depth: int,
    coarse: bool,
    namesakes: bool,
) -> None:
    query = make_query(seed, coarse=coarse, namesakes=namesakes)
    qrels = {"q": judged(query, seed)}
    collected = Collected("trials", {"q": query}, BASE, DEPTH)
    base = replace(BASE, normalization=technique[0], combination=technique[1], depth=depth)
    profiles = weighed(base, drawn(seed, 60))
    found = measure_profiles(collected, qrels, profiles, Measure.parse(name))
    assert found.tolist() == [pytest.approx(row) for row in one_by_one(collected, qrels, profiles, name)]


def test_segments_weigh_clicks(make_query: Callable[..., CollectedQuery]) -> None:
    queries = {f"q{seed}": make_query(seed) for seed in range(3)}
    queries["q1"] = replace(queries["q1"], evidence=replace(queries["q1"].evidence, segment="TAIL"))
    qrels = {id: judged(query, at) for at, (id, query) in enumerate(queries.items())}
    collected = Collected("trials", queries, BASE, DEPTH)
    profiles = [
        replace(BASE, clicks=ClickSettings(segment_weights={"HEAD": head, "TORSO": 1.0, "TAIL": tail}))
        for head, tail in ((0.0, 5.0), (5.0, 0.0), (2.0, 2.0))
    ]
    found = measure_profiles(collected, qrels, profiles, Measure.parse("nDCG@10"))
    assert found.tolist() == [pytest.approx(row) for row in one_by_one(collected, qrels, profiles, "nDCG@10")]


def test_floors_and_bounds(make_query: Callable[..., CollectedQuery]) -> None:
    queries = {f"q{seed}": make_query(seed) for seed in range(3)}
    qrels = {id: judged(query, at) for at, (id, query) in enumerate(queries.items())}
    collected = Collected("trials", queries, BASE, DEPTH)
    base = replace(BASE, floors={"dense": 0.7, "clicks": 0.05}, bounds={"lexical": (0.0, None)})
    profiles = weighed(base, drawn(1, 30))
    found = measure_profiles(collected, qrels, profiles, Measure.parse("nDCG@10"))
    assert found.tolist() == [pytest.approx(row) for row in one_by_one(collected, qrels, profiles, "nDCG@10")]


def test_a_query_that_nothing_was_found_for_is_worth_nothing() -> None:
    queries = {"q": CollectedQuery.of("x", {"lexical": [], "dense": []})}
    found = measure_profiles(
        Collected("trials", queries, BASE, DEPTH),
        {"q": {"a": 1}},
        weighed(BASE, drawn(1)),
        Measure.parse("nDCG@10"),
    )
    assert not found.any()


def test_what_was_not_collected_is_refused(make_query: Callable[..., CollectedQuery]) -> None:
    collected = Collected("trials", {"q": make_query(1)}, BASE, DEPTH)
    with pytest.raises(ProfileError, match="has the depth 50, and 20 was collected"):
        collected.rank(replace(BASE, depth=50))
    with pytest.raises(ProfileError, match="searches 'other'"):
        collected.rank(replace(BASE, vector_field="other"))
    with pytest.raises(ProfileError, match="only support and segment_weights may differ"):
        collected.rank(replace(BASE, clicks=ClickSettings(m=7)))


def test_a_repeated_document_counts_once_with_its_best_score() -> None:
    a, b = Key("a", "one"), Key("b", "one")
    query = CollectedQuery.of("x", {"lexical": [(a, 1.0), (b, 2.0), (a, 3.0)]})
    assert query.rank(Profile(weights={"lexical": 1})) == ["a", "b"]


def test_a_rule_by_segment_holds_only_where_the_log_is_read(
    make_query: Callable[..., CollectedQuery],
) -> None:
    """As in a search: without a weight for clicks the log isn't asked, and the segment isn't known."""
    query = make_query(1)
    head = Rule({"segment": ("HEAD",)}, {"dense": 1e-6})
    for clicks, holds in ((0.0, False), (1e-9, True)):
        profile = Profile(weights={"lexical": 1, "dense": 5, "clicks": clicks}, depth=20)
        ruled = query.rank(replace(profile, rules=(head,)))
        dense = replace(profile, weights={**profile.weights, "dense": 1e-6})
        assert ruled == query.rank(dense if holds else profile)
        assert query.rank(dense) != query.rank(profile)
