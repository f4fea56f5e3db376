"""The pair of profiles that a study compares, and the order in which it times them."""

from __future__ import annotations

import pytest

from trifuse.deploy.cli.study_cost import time_pairs
from trifuse.deploy.cli.studying import profile_pair
from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError


def test_the_same_without_clicks_is_what_a_profile_is_compared_with() -> None:
    with_log, without = profile_pair("lader", None)
    assert (with_log.name, without.name) == ("lader", "lader-no-log")
    assert without.weights == {"lexical": 0.0, "dense": 1.0, "clicks": 0.0}
    assert (without.normalization, without.depth) == (with_log.normalization, with_log.depth)
    assert profile_pair("lader", "lexical=1")[1].name == "lexical=1"


@pytest.mark.parametrize(
    ("profile", "against", "said"),
    [
        ("lexical=1", None, "gives clicks no weight"),
        ("clicks=1", None, "ranks by clicks alone: name what it is compared with by --against"),
        ("lader", "lader", "'lader' is compared with itself"),
    ],
)
def test_pairs_that_say_nothing(profile: str, against: str | None, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        profile_pair(profile, against)


def test_each_text_is_searched_by_both_one_right_after_the_other() -> None:
    """The clock: 3 ms for `a`, 1 ms for `b`; the order of the two is drawn, that of the texts too."""
    now = 0.0
    searched: list[tuple[str, str]] = []
    ticks = 0

    def search(profile: Profile, text: str) -> None:
        nonlocal now
        now += {"a": 0.003, "b": 0.001}[profile.name]
        searched.append((profile.name, text))

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    profiles = (Profile(name="a"), Profile(name="b"))
    texts = ["x", "y", "z"]
    first, second = time_pairs(search, profiles, texts, 4, progress=tick, clock=lambda: now)
    assert first.shape == second.shape == (3, 4)
    assert first == pytest.approx(3.0)
    assert second == pytest.approx(1.0)
    assert (len(searched), ticks) == (24, 24)
    pairs = [searched[at : at + 2] for at in range(0, 24, 2)]
    assert all({name for name, _ in pair} == {"a", "b"} and pair[0][1] == pair[1][1] for pair in pairs)
    assert {pair[0][0] for pair in pairs} == {"a", "b"}
    for round_ in range(4):
        assert sorted(pair[0][1] for pair in pairs[3 * round_ : 3 * round_ + 3]) == texts
