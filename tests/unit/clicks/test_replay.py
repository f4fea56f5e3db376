"""The state of a past query, made from its events."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.clicks.records import doc_hash, merged
from trifuse.worker.clicks.caps import Caps
from trifuse.worker.clicks.replay import Replay, Rules
from trifuse.worker.clicks.store import StoredEvent, visit_of

DAY_MS = 86_400_000
DAY = 20_000


def rules(**change: Any) -> Rules:
    return Rules(**({"half_life_days": 10.0, "min_visitors": 2, "max_docs": 3, "curve": (0.5, 0.25),
                     "caps": Caps({}, {})} | change))  # fmt: skip


def click(event_id: str, doc: str, visitor: str | None = None, **change: Any) -> StoredEvent:
    when = change.get("timestamp", DAY * DAY_MS)
    known = {
        "event_id": event_id,
        "kind": "click",
        "query": "Asthma",
        "query_key": "q",
        "timestamp": when,
        "received": when,
        "doc_id": doc,
        "session": visitor,
        "visit": visit_of(visitor, when / 1000) if visitor else None,
    }
    return StoredEvent(**(known | change))


def sums(replay: Replay) -> dict[bytes, tuple[float, float]]:
    found = merged([replay.records()], DAY * 86_400, 10.0)
    rows = zip(found.docs[found.doc], found.clicks.tolist(), found.expected.tolist(), strict=True)
    return {doc.tobytes(): (clicks, expected) for doc, clicks, expected in rows}


def test_a_query_by_hand() -> None:
    replay = Replay(rules())
    replay.add(click("e1", "a", "v1"))
    assert (replay.public, replay.clicks) == (False, 1)
    replay.add(click("e2", "a", "v1"))  # again
    replay.add(click("e3", "a", count=3, query="asthma", timestamp=(DAY - 10) * DAY_MS, position=2))
    replay.add(click("e4", "b", "v1", kind="impression", doc_id=None, shown=("b", "a")))
    assert replay.public
    assert replay.past is not None
    assert (replay.past.text, replay.past.frequency, replay.past.last_seen) == ("asthma", 4, DAY * DAY_MS)
    assert (replay.strangers, replay.visitors, replay.docs) == (3, {"v1"}, {"a"})
    # e3 is a half-life old
    assert sums(replay) == {
        doc_hash("a"): pytest.approx((1 + 1.5, 0.125 + 0.25)),
        doc_hash("b"): pytest.approx((0.0, 0.5)),
    }


def test_what_is_over_the_cap_doesnt_count_but_spells_the_query() -> None:
    visit = visit_of("v1", DAY * 86_400)
    caps = Caps(clicks={visit: (DAY * DAY_MS, "e2")}, pages={})
    replay = Replay(rules(caps=caps))
    counted = [replay.add(click(f"e{n}", f"d{n}", "v1", query=f"asthma{'!' * n}")) for n in range(5)]
    assert [len(items) for items in counted] == [1, 1, 1, 0, 0]
    assert replay.past is not None
    assert (replay.clicks, replay.past.text) == (3, "asthma!!!!")


def test_the_best_documents_are_kept() -> None:
    replay = Replay(rules())
    for n in range(6):
        replay.add(click(f"e{n}", f"d{n}", count=n + 1))
    assert sums(replay).keys() == {doc_hash("d5"), doc_hash("d4"), doc_hash("d3")}
    assert len(replay.docs) == 6


def test_repetitions_are_remembered_as_long_as_counting_remembers_them() -> None:
    replay = Replay(rules())
    first = click("e1", "a", "v1")
    assert len(replay.add(first)) == 1
    late = {"timestamp": DAY * DAY_MS}
    assert replay.add(click("e2", "a", "v1", **late, received=(DAY + 7) * DAY_MS)) == []
    assert len(replay.add(click("e3", "a", "v1", **late, received=(DAY + 9) * DAY_MS))) == 1


def test_many_events_are_added_up_on_the_way() -> None:
    replay = Replay(rules())
    for n in range(25_000):
        replay.add(click(f"e{n}", f"d{n % 3}"))
    assert replay.clicks == 25_000
    assert sum(clicks for clicks, _ in sums(replay).values()) == pytest.approx(25_000, rel=1e-6)
