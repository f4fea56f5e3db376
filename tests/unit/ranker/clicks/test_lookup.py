"""Which past queries are used."""

from __future__ import annotations

import pytest

from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.past_queries import query_id
from trifuse.ranker.clicks.settings import ClickSettings


def past(text: str, similarity: float = 1.0) -> PastQuery:
    return PastQuery(query_id(text), text, similarity)


def lookup(*, leave_one_out: bool = False, **settings: object) -> Lookup:
    return Lookup(past("asthma"), "cosine", ClickSettings(**settings), leave_one_out)  # type: ignore[arg-type]


def test_the_nearest_m_above_the_floor() -> None:
    found = [("a", 0.9), ("b", 0.8), ("c", 0.75), ("d", 0.69)]
    assert lookup(m=2).choose(found) == [past("a", 0.9), past("b", 0.8)]
    assert [each.text for each in lookup(min_similarity=0.75).choose(found)] == ["a", "b", "c"]
    assert [each.text for each in lookup().choose(found)] == ["a", "b", "c", "d"]
    assert lookup(m=0).choose(found) == []


def test_the_query_itself_takes_the_place_of_its_past_query_and_needs_no_floor() -> None:
    # as it was spelt then it may lie elsewhere
    assert lookup(min_similarity=0.7).choose([("a", 0.9), ("asthma", 0.1)]) == [
        past("a", 0.9),
        past("asthma", 1.0),
    ]


def test_left_out_it_leaves_its_place_to_the_next() -> None:
    found = [("asthma", 1.0), ("a", 0.9), ("b", 0.8)]
    assert [each.text for each in lookup(m=2).choose(found)] == ["asthma", "a"]
    assert [each.text for each in lookup(m=2, leave_one_out=True).choose(found)] == ["a", "b"]


def test_a_share_of_the_log_is_the_same_queries_each_time() -> None:
    texts = [f"query {i}" for i in range(400)]
    found = [(text, 0.9) for text in texts]
    chosen = {
        share: {each.text for each in lookup(m=400, log_share=share).choose(found)}
        for share in (0.1, 0.5, 1.0)
    }
    assert chosen[0.1] < chosen[0.5] < chosen[1.0] == set(texts)
    # 3 standard deviations of a binomial
    assert len(chosen[0.1]) == pytest.approx(40, abs=18)
    assert len(chosen[0.5]) == pytest.approx(200, abs=30)
