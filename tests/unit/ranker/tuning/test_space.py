"""Settings make profiles; the grid and the draws stay within what was asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.tuning import Collected, CollectedQuery
from trifuse.ranker.tuning.space import Setting, Space
from trifuse.ranker.types import Key

SMALL = Space(
    dense=(0.0, 0.5, 1.0),
    clicks=(0.0, 2.0),
    techniques=(("min_max", "weighted_sum"), ("min_max", "rrf")),
    rank_constants=(10, 60),
    depths=(50,),
)


def test_a_setting_is_a_profile_with_all_else_from_the_base() -> None:
    base = Profile(
        name="ours",
        k=300,
        click_budget_s=0.1,
        clicks=ClickSettings(m=7, segment_weights={"HEAD": 1, "TORSO": 1, "TAIL": 1}),
        floors={"dense": 0.5},
    )
    found = Setting(0.3, 2.0, "z_score", "weighted_sum", 60, 200).profile(base)
    assert found.weights == {"lexical": 0.7, "dense": 0.3, "clicks": 2.0}
    assert found.normalization == {"lexical": "z_score", "dense": "z_score", "clicks": "none"}
    assert (found.name, found.depth, found.k, found.click_budget_s) == ("tuned", 200, 300, 0.1)
    assert found.clicks == ClickSettings(m=7)  # one weight for all segments
    assert found.floors == {"dense": 0.5}


def test_rules_of_the_base_are_dropped_and_clicks_are_scaled_where_scores_go_up_to_1() -> None:
    base = Profile(rules=(Rule({"words": (3, None)}, {"dense": 1.0}),))
    found = Setting(1.0, 0.25, "min_max", "rrf", 20, 100).profile(base)
    assert (found.rules, found.rank_constant, found.normalization_of("clicks")) == ((), 20, "min_max")
    assert found.weights == {"lexical": 0.0, "dense": 1.0, "clicks": 0.25}


def test_changes_are_counted_relative_to_lexical_and_dense() -> None:
    base = Profile(weights={"lexical": 2.0, "dense": 2.0, "clicks": 8.0})
    same = Setting(0.5, 2.0, "min_max", "weighted_sum", 60, 100)
    assert same.changes(base) == 0
    assert same._replace(dense=0.4, depth=50).changes(base) == 2
    assert same._replace(combination="rrf", rank_constant=10, normalization="l2").changes(base) == 3
    assert same._replace(rank_constant=10).changes(base) == 0  # which rrf alone reads


def test_the_grid_has_every_combination_once() -> None:
    """weighted_sum: 3 x 2. rrf: 2 constants x 3 x 2, less those of one leg alone, which rank alike."""
    found = SMALL.grid()
    assert len(found) == len(set(found)) == 6 + 2 * (6 - 2)
    assert all(setting.rank_constant == 60 for setting in found if setting.combination != "rrf")


def test_draws_are_within_the_space_and_the_same_each_time() -> None:
    found = SMALL.random(200, seed=3)
    assert found == SMALL.random(200, seed=3) != SMALL.random(200, seed=4)
    assert all(0 <= setting.dense <= 1 and 0 <= setting.clicks <= 2 for setting in found)
    assert {setting.rank_constant for setting in found if setting.combination == "rrf"} == {10, 60}
    assert len({setting.clicks for setting in found}) > 50


def test_only_what_was_collected_is_searched(make_query: Callable[..., CollectedQuery]) -> None:
    both = Collected("trials", {"q": make_query(1, clicks=False)}, Profile(), 20)
    found = Space().within(both, Profile())
    assert (found.clicks, found.depths, len(found.dense)) == ((0.0,), (20,), 21)
    assert {setting.clicks for setting in found.grid()} == {0.0}
    lexical = CollectedQuery.of("x", {"lexical": [(Key("a", "i"), 1.0)]})
    assert Space().within(Collected("trials", {"q": lexical}, Profile(), 20), Profile()).dense == (0.0,)
    with_clicks = Collected("trials", {"q": make_query(1)}, Profile(), 20)
    found = Space().within(with_clicks, Profile())
    assert found.clicks == ()  # by combination
    assert len(found.grid()) > 900


def test_the_baselines_own_setting_is_tried(make_query: Callable[..., CollectedQuery]) -> None:
    """Weights of 1.33, 0.67 and 10 are 0.665, 0.335 and 5 of a whole."""
    collected = Collected("trials", {"q": make_query(1)}, Profile(), 20)
    sums = Profile(weights={"lexical": 1.33, "dense": 0.67, "clicks": 10})
    grid = Space().within(collected, sums).grid()
    assert Setting(0.335, 5.0, "min_max", "weighted_sum", 60, 20) in grid
    assert {setting.clicks for setting in grid if setting.combination == "rrf"} == {0, 0.1, 0.25, 0.5, 1}
    products = Profile(
        weights={"lexical": 3, "dense": 1, "clicks": 1}, normalization="l2", combination="geometric_mean"
    )
    grid = Space().within(collected, products).grid()
    assert Setting(0.25, 0.25, "l2", "geometric_mean", 60, 20) in grid
    assert SMALL.within(collected, products).grid() == SMALL.grid()  # what is named is kept to


def test_nothing_to_weigh_is_refused() -> None:
    empty = Collected("trials", {"q": CollectedQuery.of("x", {})}, Profile(), 20)
    with pytest.raises(ProfileError, match="neither lexical nor dense brought anything"):
        Space().within(empty, Profile())


@pytest.mark.parametrize("space", [{"dense": (1.5,)}, {"rank_constants": ()}])
def test_a_space_of_nothing_is_refused(space: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ProfileError, match="of the space is"):
        Space(**space)  # type: ignore[arg-type]


def test_around_a_setting_one_number_changes_at_a_time() -> None:
    best = Setting(0.35, 1.0, "min_max", "rrf", 20, 50)
    found = dict(SMALL.around(best))
    assert list(found) == ["dense", "clicks", "rank_constant"]
    assert [value for value, _ in found["dense"]] == ["0", "0.35", "0.5", "1"]
    assert [value for value, _ in found["rank_constant"]] == ["10", "20", "60"]
    assert all(sum(a != b for a, b in zip(each, best, strict=True)) <= 1 for _, each in found["dense"])


@pytest.mark.parametrize("lexical", [1e-6, 1e-12])
def test_a_baseline_of_nearly_clicks_alone_has_no_weight_beyond_all(
    make_query: Callable[..., CollectedQuery], lexical: float
) -> None:
    """As a share of the other legs' weights that of clicks is more than a profile can have."""
    base = Profile(weights={"lexical": lexical, "clicks": 10.0})
    space = Space().within(Collected("i", {"q": make_query(1)}, base, 100), base)
    assert max(space.clicks_for(base.combination)) == 16.0
    assert all(setting.profile(base).weights["clicks"] <= 16 for setting in space.grid())
