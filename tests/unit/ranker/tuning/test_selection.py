"""Settings are chosen by some queries and looked at on others; what is held out has no say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from trifuse.ranker import Profile
from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.tuning.selection import by_segment, choose, fixed, holding_out, in_folds, nested
from trifuse.ranker.tuning.space import Setting

BASE = Profile(weights={"lexical": 0.5, "dense": 0.5})


def setting(dense: float, clicks: float = 0.0, combination: str = "weighted_sum") -> Setting:
    return Setting(dense, clicks, "min_max", combination, 60, 100)


SETTINGS = [setting(0.2), setting(0.5), setting(0.8)]


def test_the_best_mean_is_chosen() -> None:
    assert choose(SETTINGS, np.array([[0.1, 0.2], [0.4, 0.0], [0.3, 0.3]]), BASE) == 2


def test_of_equal_means_the_one_that_changes_least_then_the_first() -> None:
    assert choose(SETTINGS, np.array([[0.3, 0.1], [0.1, 0.3], [0.2, 0.2]]), BASE) == 1
    others = [setting(0.2, 1.0), setting(0.8), setting(0.9)]
    assert choose(others, np.full((3, 2), 0.5), BASE) == 1


def test_each_part_has_the_setting_that_was_best_without_it() -> None:
    """Query 0 alone favours the first setting, queries 1 and 2 the third."""
    values = np.array([[0.9, 0.1, 0.2], [0.3, 0.3, 0.3], [0.0, 0.6, 0.7]])

    def score(settings: Sequence[Setting]) -> np.ndarray:
        return values

    parts = [np.array([0]), np.array([1, 2])]
    found = nested(fixed(SETTINGS), score, parts, 3, BASE)
    assert [part.setting.dense for part in found] == [0.8, 0.2]
    assert [part.values.tolist() for part in found] == [[0.0], [0.1, 0.2]]
    assert [part.train for part in found] == [pytest.approx(0.65), pytest.approx(0.9)]


def test_what_is_held_out_changes_nothing_that_is_chosen() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((3, 20))
    parts = in_folds(20, 4, seed=1)
    before = nested(fixed(SETTINGS), lambda _: values, parts, 20, BASE)
    for part, held in zip(before, parts, strict=True):
        shuffled = values.copy()
        shuffled[:, held] = rng.random((3, len(held)))
        after = nested(fixed(SETTINGS), lambda _, now=shuffled: now, [held], 20, BASE)
        assert (after[0].setting, after[0].train) == (part.setting, part.train)


def test_folds_part_all_queries_evenly_and_the_same_each_time() -> None:
    parts = in_folds(11, 3, seed=4)
    assert sorted(map(len, parts)) == [3, 4, 4]
    assert sorted(np.concatenate(parts).tolist()) == list(range(11))
    assert [part.tolist() for part in in_folds(11, 3, seed=4)] == [part.tolist() for part in parts]


@pytest.mark.parametrize(("queries", "count"), [(3, 4), (3, 1), (0, 2)])
def test_too_few_queries_for_the_folds(queries: int, count: int) -> None:
    with pytest.raises(NothingToEvaluate, match=f"{queries} judged queries can't be parted into {count}"):
        in_folds(queries, count, 0)


def test_a_split_holds_out_the_queries_that_it_names() -> None:
    assert [part.tolist() for part in holding_out(["a", "b", "c"], ["c", "a", "unknown"])] == [[0, 2]]


@pytest.mark.parametrize("ids", [[], ["x"], ["a", "b"]])
def test_a_split_of_nothing_or_everything_is_refused(ids: list[str]) -> None:
    with pytest.raises(NothingToEvaluate, match="of 2 judged queries"):
        holding_out(["a", "b"], ids)


def test_segments_get_the_weight_of_clicks_that_is_best_for_each() -> None:
    """HEAD queries like clicks, TAIL queries don't, TORSO isn't there: it gets what is best for all."""
    settings = [setting(0.5, 0.0), setting(0.5, 1.0), setting(0.5, 4.0), setting(0.7, 2.0)]
    values = np.array(
        [[0.1, 0.1, 0.9, 0.0], [0.5, 0.4, 0.5, 0.0], [0.8, 0.9, 0.0, 9.9], [0.0, 0.0, 0.0, 0.0]]
    )
    search = by_segment(fixed(settings), ["HEAD", "HEAD", "TAIL", "TAIL"])
    found = search(lambda _: values, np.array([0, 1, 2]))  # of the last query nothing is known
    assert found[:4] == settings
    assert found[4:] == [setting(0.5, 4.0)._replace(segments=(4.0, 4.0, 0.0))]
    profile = found[4].profile(BASE)
    assert profile.weights_in("TAIL")["clicks"] == 0.0
    assert profile.weights_in("HEAD") == {"lexical": 0.5, "dense": 0.5, "clicks": 4.0}
