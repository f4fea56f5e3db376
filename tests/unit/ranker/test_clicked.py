from __future__ import annotations

import pytest

from trifuse.ranker.clicked import Clicked, read_evidence, why_not_asked
from trifuse.ranker.clicks.evidence import ClickEvidence, SimilarQuery
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.target import Target, read_target
from trifuse.ranker.types import LegReport

BY_SEGMENT = Profile(name="p", clicks=ClickSettings(segment_weights={"HEAD": 0.5, "TORSO": 0.5, "TAIL": 0.0}))


def target(expression: str = "i") -> Target:
    return read_target(expression, {"i": {"mappings": {}}})


def test_evidence() -> None:
    past = (SimilarQuery("asthma", 1.0, 1.0),)
    evidence = ClickEvidence({"1": 0.5}, past, took_ms=3.4, frequency=7, segment="TORSO")
    found = read_evidence(evidence, Profile())
    assert found.report == LegReport("ok", None, 3)
    assert (found.scores, found.queries) == ({"1": 0.5}, past)
    assert (found.frequency, found.segment) == (7, "TORSO")


def test_only_the_same_query_was_looked_up() -> None:
    evidence = ClickEvidence({"1": 1.0}, state="partial", reason="the query has no vector")
    assert read_evidence(evidence, Profile()).report == LegReport("ok", "the query has no vector")


def test_c6_a_click_store_that_is_down_knows_no_frequency() -> None:
    evidence = ClickEvidence(state="neutral", reason="the click store didn't answer", took_ms=300)
    found = read_evidence(evidence, Profile())
    assert found == Clicked(LegReport("failed", "the click store didn't answer", 300))
    assert found.frequency is found.segment is None
    assert found.supported({"1": 1.0}) is found


def test_no_clicks() -> None:
    found = read_evidence(ClickEvidence(), Profile())
    assert found.report == LegReport("empty", "no clicks for this query or similar ones")
    assert (found.scores, found.frequency, found.segment) == ({}, 0, "TAIL")
    long = ClickEvidence(reason="the query is over 1000 characters")
    assert read_evidence(long, Profile()).report.reason == "the query is over 1000 characters"


def test_a_segment_of_weight_zero_is_no_leg() -> None:
    past = (SimilarQuery("asthma", 1.0, 1.0),)
    found = read_evidence(ClickEvidence({"1": 1.0}, past, frequency=2, segment="TAIL"), BY_SEGMENT)
    assert found.report == LegReport("off", "weight 0 for TAIL queries in the profile 'p'")
    assert (found.scores, found.queries) == ({}, ())
    assert (found.frequency, found.segment) == (2, "TAIL")
    head = ClickEvidence({"1": 1.0}, frequency=50, segment="HEAD")
    assert read_evidence(head, BY_SEGMENT).scores == {"1": 1.0}


@pytest.mark.parametrize("text", ["", " \n", "\x00"])
def test_f15_without_a_text_nothing_is_looked_up(text: str) -> None:
    assert why_not_asked(text, target(), Profile()) == LegReport("skipped", "the text is empty")


def test_what_is_not_looked_up() -> None:
    assert why_not_asked("asthma", target(), Profile()) is None
    off = why_not_asked("asthma", target(), Profile(name="p", weights={"lexical": 1}))
    assert off == LegReport("off", "weight 0 in the profile 'p'")
    for several in ("i,j", "i*", "_all"):
        found = why_not_asked("asthma", target(several), Profile())
        assert found is not None
        assert found.state == "off"
