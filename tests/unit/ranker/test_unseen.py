"""Where it needn't be known whether clicked documents beyond the page are there."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.body import read_body
from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.request import Request
from trifuse.ranker.response import total_hits
from trifuse.ranker.retrieved import Retrieved, read_answers
from trifuse.ranker.server import Answer
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import read_target
from trifuse.ranker.types import Key, LegReport
from trifuse.ranker.unseen import may_stay_unseen, tells

CLICKED = Clicked(LegReport("ok"), ClickEvidence({"c": 0.5}))


def request(profile: Profile, **body: Any) -> Request:
    target = read_target("i", {"i": {"mappings": {"properties": {"tenant": {"type": "keyword"}}}}})
    user = read_body(body, depth=profile.depth)
    encoded = Encoded(None, None, LegReport("ok"))
    return Request(
        "asthma",
        user,
        read_params(None, text="asthma"),
        target,
        plan_filters(user, target, None),
        encoded,
        profile,
    )


def answer(*ids: str, total: int | None = None) -> Answer:
    hits = [{"_id": id, "_index": "i", "_score": 1.0} for id in ids]
    counted = {} if total is None else {"total": {"value": total, "relation": "eq"}}
    return Answer(200, None, {"hits": {"hits": hits, **counted}})


def guess(asked: Request, *dense: str) -> Retrieved:
    answers = {"lexical": answer("a", total=1), "dense": answer(*dense), "clicks": answer("c")}
    return read_answers(asked, CLICKED, answers)


def seen(profile: Profile | None = None, dense: tuple[str, ...] = ("a", "b"), **body: Any) -> bool:
    asked = request(profile or Profile(depth=2), size=1, **body)
    return not may_stay_unseen(asked, guess(asked, *dense))


def test_a_first_page_of_a_dense_leg_that_was_cut() -> None:
    assert not seen()
    assert seen(dense=("a",))  # the total is exact, and counts what is there
    assert not seen(dense=("a",), track_total_hits=False)


def test_later_pages_and_filters() -> None:
    assert seen(**{"from": 1})
    assert seen(post_filter={"term": {"tenant": "a"}})


@pytest.mark.parametrize(
    ("given", "other"),
    [
        ({}, False),
        ({"combination": "arithmetic_mean"}, False),
        ({"combination": "rrf"}, True),
        ({"combination": "dbsf"}, True),
        ({"normalization": "min_max"}, True),
        ({"normalization": {"clicks": "softmax"}}, True),
    ],
)
def test_where_other_clicked_documents_move_a_score(given: dict[str, Any], other: bool) -> None:
    assert seen(Profile(depth=2, **given)) is other


def test_what_a_page_tells_of() -> None:
    page, found = [Key("a", "i"), Key("c", "i")], {"_source": {}}
    assert tells(page, dict.fromkeys(page, found), {"c"})
    assert tells(page, {Key("c", "i"): found}, {"c"})  # another leg brought "a": gone since
    assert not tells(page, {Key("a", "i"): found}, {"c"})
    assert not tells(page, {Key("a", "i"): found, Key("c", "i", "routing"): found}, {"c"})
    both = {Key("a", "i"): found, Key("c", "i"): found, Key("c", "i", "routing"): found}
    assert not tells(page, both, {"c"})


def test_f13_the_total_counts_clicked_documents_only_where_all_are_checked() -> None:
    cut, whole = request(Profile(depth=2), size=1), request(Profile(depth=3), size=1)
    assert total_hits(cut, guess(cut, "a", "b")) == {"value": 2, "relation": "gte"}
    assert total_hits(whole, guess(whole, "a", "b")) == {"value": 3, "relation": "eq"}
