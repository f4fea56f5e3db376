"""The identity of an event."""

from __future__ import annotations

import msgspec

from trifuse.worker.clicks.events import ClickEvent, impression_id


def test_an_event_without_an_id_is_its_content() -> None:
    event = ClickEvent(query="asthma", doc_id="a", session="s", timestamp=1.0)
    assert event.id == ClickEvent(query="asthma", doc_id="a", session="s", timestamp=1.0).id
    others = [
        msgspec.structs.replace(event, **{field: value})
        for field, value in {
            "query": "Asthma",
            "doc_id": "b",
            "session": "t",
            "timestamp": 2.0,
            "position": 1,
            "count": 2,
            "user": "u",
            "query_id": "q",
            "kind": "impression",
            "shown": ("a",),
        }.items()
    ]
    assert len({event.id, *(other.id for other in others)}) == 1 + len(others)


def test_the_logs_own_id_is_the_identity() -> None:
    assert ClickEvent(event_id="e1", query="asthma").id == "e1" == ClickEvent(event_id="e1", query="copd").id


def test_an_id_that_opensearch_would_refuse_is_hashed() -> None:
    long = "é" * 300  # 600 bytes
    assert len(ClickEvent(event_id=long).id) == 32
    assert ClickEvent(event_id=long).id != ClickEvent(event_id=long + "x").id


def test_the_page_of_a_search_is_found_by_the_searchs_id() -> None:
    page = ClickEvent(query="asthma", query_id="q1", kind="impression", shown=("a", "b"))
    assert page.id == impression_id("q1") == "query:q1"
    assert len(impression_id("q" * 5000)) == 32
    of_one = ClickEvent(query="asthma", query_id="q1", kind="impression", doc_id="a")
    assert of_one.id != page.id
