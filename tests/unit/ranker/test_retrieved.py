from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trifuse.ranker.body import read_body
from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.errors import SearchRejected, SearchUnavailable
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.request import Request
from trifuse.ranker.retrieved import DELETED, confirmed, presumed, read_answers, unchecked
from trifuse.ranker.server import Answer
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import read_target
from trifuse.ranker.types import Key, LegReport

CLICKED = Clicked(LegReport("ok", took_ms=5), ClickEvidence({"a": 0.5, "b": 0.25, "c": 0.125}))


def request(*indices: str, profile: Profile | None = None, **body: Any) -> Request:
    mapping = {"mappings": {"properties": {"tenant": {"type": "keyword"}}}}
    target = read_target("i", dict.fromkeys(indices or ("i",), mapping))
    user = read_body(body, depth=100)
    return Request(
        "asthma",
        user,
        read_params(None, text="asthma"),
        target,
        plan_filters(user, target, None),
        Encoded(None, None, LegReport("off", "no encoder")),
        profile or Profile(),
    )


def answer(*ids: str, routing: str | None = None, took: int = 0) -> Answer:
    routed = {} if routing is None else {"_routing": routing}
    hits = [{"_id": id, "_index": "i", "_score": 1.0, **routed} for id in ids]
    return Answer(200, None, {"took": took, "hits": {"hits": hits}})


def test_what_other_legs_brought_is_checked_already() -> None:
    answers = {"lexical": answer("a", "x"), "dense": answer("c")}
    assert unchecked(request(), CLICKED, answers) == ["b"]
    assert unchecked(request(), CLICKED, {}) == ["a", "b", "c"]


def test_without_a_filter_no_more_are_checked_than_can_be_shown() -> None:
    many = Clicked(LegReport("ok"), ClickEvidence({f"d{n}": 1.0 / (n + 1) for n in range(200)}))
    small = Profile(depth=10)
    best = [f"d{n}" for n in range(200)]
    assert unchecked(request(profile=small), many, {}) == best[: 10 + DELETED]
    assert unchecked(request(profile=small), many, {"lexical": answer("d0")}) == best[1 : 11 + DELETED]
    assert unchecked(request("i", "j", profile=small), many, {}) == best[: 10 + DELETED]
    assert unchecked(request(profile=small, post_filter={"term": {"tenant": "a"}}), many, {}) == best


def test_an_id_that_may_name_several_documents_is_checked_whatever_was_brought() -> None:
    assert unchecked(request("i", "j"), CLICKED, {"lexical": answer("a")}) == ["a", "b", "c"]
    assert unchecked(request(), CLICKED, {"lexical": answer("a", routing="r")}) == ["a", "b", "c"]


def test_clicks_of_documents_that_any_leg_brought_count() -> None:
    answers = {"lexical": answer("a", "x"), "dense": answer("a"), "clicks": answer("c")}
    found = read_answers(request(), CLICKED, answers)
    assert found.hits["clicks"] == LegHits((Key("a", "i"), Key("c", "i")), (0.5, 0.125))
    assert found.reports["clicks"] == LegReport("ok", None, 5, 2)


def test_all_were_brought_and_nothing_was_asked() -> None:
    found = read_answers(request(), CLICKED, {"lexical": answer("a", "b", "c")})
    assert len(found.hits["clicks"].keys) == 3
    assert found.reports["clicks"] == LegReport("ok", None, 5, 3)


def test_the_click_leg_is_as_large_as_its_candidates() -> None:
    profile = Profile.from_dict({"depth": 10, "clicks": {"candidates": 2}})
    found = read_answers(request(profile=profile, size=1), CLICKED, {"lexical": answer("c", "b", "a")})
    assert [key.id for key in found.hits["clicks"].keys] == ["a", "b"]
    assert len(found.hits["lexical"].keys) == 3


def test_a_check_that_fails_leaves_the_leg_out() -> None:
    answers = {"lexical": answer("a"), "clicks": Answer(503, {"reason": "no answer"}, {})}
    found = read_answers(request(), CLICKED, answers)
    assert found.hits["clicks"] == LegHits()
    assert found.reports["clicks"] == LegReport("failed", "no answer", 5, 0)


def test_none_is_there() -> None:
    found = read_answers(request(), CLICKED, {"lexical": answer("x"), "clicks": answer()})
    assert found.reports["clicks"].reason == (
        "none of the 3 clicked documents is there and matches the filters"
    )


def test_a_guess_that_is_confirmed_is_what_would_have_been_read() -> None:
    answers = {"lexical": answer("a", "x")}
    guess = presumed(request(), CLICKED, answers, ["b", "c"])
    assert guess is not None
    real = answer("c", "b", took=4)
    right = confirmed(guess, real)
    assert right == read_answers(request(), CLICKED, {**answers, "clicks": real})
    assert right is not None
    assert right.reports["clicks"].took_ms == 9


@pytest.mark.parametrize(
    "real",
    [
        answer("b"),
        answer(),
        answer("b", "c", routing="r"),
        Answer(503, {"reason": "no answer"}, {}),
        Answer(200, None, {**answer("b", "c").content, "timed_out": True}),
    ],
)
def test_a_wrong_guess(real: Answer) -> None:
    guess = presumed(request(), CLICKED, {"lexical": answer("a")}, ["b", "c"])
    assert guess is not None
    assert confirmed(guess, real) is None


def test_where_there_is_no_guessing() -> None:
    answers = {"lexical": answer("a")}
    assert presumed(request("i", "j"), CLICKED, answers, ["b"]) is None
    assert presumed(request(collapse={"field": "tenant"}), CLICKED, answers, ["b"]) is None
    assert presumed(request(), CLICKED, {"lexical": answer("a", routing="r")}, ["b"]) is None


def test_a_query_with_too_many_terms_needs_another_leg() -> None:
    long = Answer(400, {"type": "too_many_nested_clauses", "reason": "maxClauseCount is 1024"}, {})
    found = read_answers(request(), CLICKED, {"lexical": long, "clicks": answer("a")})
    assert found.reports["lexical"].state == "failed"
    with pytest.raises(SearchRejected, match="more terms than OpenSearch allows"):
        read_answers(request(), CLICKED, {"lexical": long})


@pytest.mark.parametrize("status", [429, 502, 503])
def test_shards_that_do_not_answer_are_no_fault_of_the_query(status: int) -> None:
    starting = Answer(status, {"type": "search_phase_execution_exception", "reason": "all shards failed"}, {})
    with pytest.raises(SearchUnavailable, match=f"answered {status}: all shards failed; try again later"):
        read_answers(request(), CLICKED, {"lexical": starting, "clicks": answer("a")})


def test_a_rule_that_leaves_a_leg_out() -> None:
    rule = Rule({"words": (1, 1)}, {"lexical": 0.0}, name="one-word")
    answers = {"lexical": answer("a", "x", took=3), "dense": answer("c")}
    found = read_answers(request(profile=Profile(name="p", rules=(rule,))), CLICKED, answers)
    assert found.rule == "one-word"
    assert found.weights == {"lexical": 0.0, "dense": 0.5, "clicks": 5.0}
    assert found.hits.keys() == {"dense", "clicks"}
    off = LegReport("off", "weight 0 by rule one-word of the profile 'p'", 3, 0)
    assert found.reports["lexical"] == off
    assert found.reports["clicks"].hits == 2, "documents that were clicked count, whoever brought them"
    assert found.lexical_total is None


def test_a_leg_that_failed_is_not_off() -> None:
    rule = Rule({"words": (1, 1)}, {"dense": 0.0})
    answers = {"lexical": answer("a"), "dense": Answer(500, {"reason": "broken"}, {})}
    ask = replace(request(profile=Profile(rules=(rule,))), encoded=Encoded(None, None, LegReport("ok")))
    found = read_answers(ask, CLICKED, answers)
    assert found.reports["dense"] == LegReport("failed", "broken")


def scored(**scores: float) -> Answer:
    hits = [{"_id": id, "_index": "i", "_score": score} for id, score in scores.items()]
    return Answer(200, None, {"hits": {"hits": hits}})


def test_f10_hits_below_a_floor_are_not_brought_and_the_report_says_so() -> None:
    """The click leg still knows that c is there, whichever leg brought it."""
    floors = {"lexical": 2.0, "dense": 0.9, "clicks": 0.2}
    answers = {"lexical": scored(x=3.0, a=2.0, c=1.0, d=0.5), "dense": scored(x=0.8)}
    found = read_answers(request(profile=Profile(floors=floors)), CLICKED, answers)
    brought = {leg: [key.id for key in hits.keys] for leg, hits in found.hits.items()}
    assert brought == {"lexical": ["x", "a"], "dense": [], "clicks": ["a"]}
    assert found.reports["lexical"] == LegReport("ok", "2 hits below the floor of 2", 0, 2)
    assert found.reports["clicks"] == LegReport("ok", "1 hit below the floor of 0.2", 5, 1)


def test_f10_a_leg_of_which_no_hit_reaches_the_floor_is_empty() -> None:
    found = read_answers(request(profile=Profile(floors={"lexical": 9})), CLICKED, {"lexical": scored(x=3.0)})
    assert found.reports["lexical"] == LegReport("empty", "1 hit below the floor of 9", 0, 0)
    assert found.hits["lexical"] == LegHits()
