"""Which events are meant, as queries to the event index."""

from __future__ import annotations

from trifuse.ranker.clicks.past_queries import query_id
from trifuse.worker.clicks.selection import Selection

ASTHMA = query_id("asthma")


def lacks(field: str) -> dict[str, object]:
    return {"bool": {"must_not": [{"exists": {"field": field}}]}}


def test_nothing_given_is_nothing_meant() -> None:
    assert Selection().is_empty
    for given in (
        Selection(queries=("x",)),
        Selection(sessions=("s",)),
        Selection(users=("u",)),
        Selection(before=0),
    ):
        assert not given.is_empty


def test_kinds_must_all_fit_and_of_a_kind_any_one() -> None:
    selection = Selection(queries=("  Asthma?", "ASTHMA"), sessions=("s1", "s2"), users=("u",), before=1.5)
    assert selection.body() == {
        "bool": {
            "filter": [
                {"terms": {"session": ["s1", "s2"]}},
                {"terms": {"user": ["u"]}},
                {"terms": {"query_key": [ASTHMA, ASTHMA]}},
                {"range": {"timestamp": {"lt": 1500}}},
            ]
        }
    }


def test_the_other_events_of_a_visitors_searches_name_no_other_visitor() -> None:
    selection = Selection(sessions=("s1",), before=1.5)
    assert selection.of_visitors
    assert selection.searches_body(["q1"]) == {
        "bool": {
            "filter": [
                {"terms": {"query_id": ["q1"]}},
                {"bool": {"should": [{"terms": {"session": ["s1"]}}, lacks("session")]}},
                {"range": {"timestamp": {"lt": 1500}}},
            ],
            "must_not": [selection.body()],
        }
    }
    assert not Selection(queries=("asthma",), before=1.5).of_visitors
