"""How rankings are made: one search a query, of the body only what ranks, deep enough for the measures."""

from __future__ import annotations

from typing import Any, cast

import pytest

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import rank_all
from trifuse.ranker.evaluation.runs import evaluation_depth


class GivenRanker:
    """Answers each search with the same hits, and notes what it was asked."""

    def __init__(self, ids: list[str], dense: str = "ok") -> None:
        self.asked: list[dict[str, Any]] = []
        self._ids = ids
        self._dense = dense

    def search(self, index: str, body: dict[str, Any], **given: Any) -> dict[str, Any]:
        self.asked.append({"index": index, "body": body, **given})
        legs = {
            "lexical": {"state": "ok", "reason": None},
            "dense": {"state": self._dense, "reason": "broken"},
        }
        return {"hits": {"hits": [{"_id": each} for each in self._ids]}, "trifuse": {"legs": legs}}


def test_what_is_asked_of_the_ranker() -> None:
    ranker = GivenRanker(["a", "b", "a"])
    body = {
        "query": {"match": {"title": "{{text}}"}},
        "post_filter": {"term": {"x": 1}},
        "collapse": {"field": "x"},
        "highlight": {"fields": {"title": {}}},
        "aggs": {"x": {"terms": {"field": "x"}}},
        "size": 3,
        "from": 1,
        "_source": ["title"],
        "track_total_hits": True,
    }
    ticks: list[None] = []
    ranked = rank_all(
        cast(HybridRanker, ranker),
        "trials",
        {"q1": "stroke", "q2": "gout"},
        profile=Profile(depth=5, k=7),
        depth=20,
        body=body,
        progress=lambda: ticks.append(None),
    )
    assert ranked.documents == {"q1": ["a", "b"], "q2": ["a", "b"]}
    assert len(ticks) == 2
    first, second = ranker.asked
    assert first["body"] == {
        "query": {"match": {"title": "stroke"}},
        "post_filter": {"term": {"x": 1}},
        "collapse": {"field": "x"},
        "_source": False,
        "track_total_hits": False,
    }
    assert second["body"]["query"] == {"match": {"title": "gout"}}
    assert (first["size"], first["from_"], first["text"]) == (20, 0, "stroke")
    profile = first["profile"]
    assert (profile.depth, profile.k, profile.click_budget_s) == (20, 20, 10.0)


def test_legs_that_failed_are_counted_and_say_why() -> None:
    ranker = GivenRanker(["a"], dense="failed")
    ranked = rank_all(cast(HybridRanker, ranker), "i", {"q1": "x", "q2": "y"}, profile=Profile(), depth=100)
    assert ranked.legs == {"lexical": {"ok": 2}, "dense": {"failed": 2}}
    assert ranked.failed == {"dense": 2}
    assert ranked.reasons == {"dense": "broken"}


@pytest.mark.parametrize(
    ("depth", "cutoff", "limit", "expected"),
    [(100, 10, False, 100), (100, 1000, False, 1000), (100, 1000, True, 100), (500, 0, False, 500)],
)
def test_depth(depth: int, cutoff: int, limit: bool, expected: int) -> None:
    assert evaluation_depth(Profile(depth=depth), cutoff, limit=limit) == expected


def test_a_cutoff_that_nothing_ranks() -> None:
    with pytest.raises(ProfileError, match="rank 20000"):
        evaluation_depth(Profile(), 20_000)
