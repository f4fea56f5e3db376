"""Which documents are queued again, by a clock that the test moves."""

from __future__ import annotations

from trifuse.indexer.leases import Leases
from trifuse.indexer.scan import Pending


def items(*ids: str) -> list[Pending]:
    return [Pending(doc_id, None, 0, None, "missing", None) for doc_id in ids]


def names(found: object) -> list[str]:
    return [item.id for item in found]  # type: ignore[attr-defined]


def test_a_lease_runs_from_when_a_document_was_queued() -> None:
    leases = Leases(60.0)
    leases.add(items("a", "b"), now=10.0)
    assert names(leases.expired(now=69.0)) == []
    assert names(leases.expired(now=70.0)) == ["a", "b"]


def test_progress_extends_the_leases_of_what_waits_behind() -> None:
    leases = Leases(60.0)
    leases.add(items("a", "b"), now=0.0)
    leases.written([("a", None)], now=50.0)
    assert names(leases.expired(now=109.0)) == []
    assert names(leases.expired(now=110.0)) == ["b"]
    assert leases.idle_s(now=110.0) == 60.0


def test_what_is_queued_again_goes_to_the_end_with_a_new_lease() -> None:
    leases = Leases(60.0)
    leases.add(items("a", "b"), now=0.0)
    leases.add(items("a"), now=60.0)
    assert names(leases.oldest(5)) == ["b", "a"]
    assert names(leases.oldest(1)) == ["b"]
    assert names(leases.expired(now=61.0)) == ["b"]
    assert len(leases) == 2


def test_nothing_is_idle_while_nobody_waits() -> None:
    """A look at a large index may take longer than any lease before it finds something."""
    leases = Leases(60.0)
    assert leases.idle_s(now=500.0) == 0.0
    leases.add(items("a"), now=500.0)
    assert leases.idle_s(now=510.0) == 10.0
    leases.written([("a", None)], now=520.0)
    leases.add(items("b"), now=900.0)
    assert leases.idle_s(now=901.0) == 1.0


def test_news_of_a_document_that_nobody_waits_for_is_no_progress() -> None:
    leases = Leases(60.0)
    leases.add(items("b"), now=0.0)
    leases.written([("a", None)], now=30.0)
    assert leases.idle_s(now=30.0) == 30.0


def test_two_documents_of_one_id_are_told_apart_by_their_routing() -> None:
    leases = Leases(60.0)
    one, two = (Pending("a", routing, 0, None, "missing", None) for routing in ("x", "y"))
    leases.add([one, two], now=0.0)
    assert len(leases) == 2
    leases.written([("a", "x")], now=1.0)
    assert leases.oldest(5) == [two]


def test_a_version_that_was_queued_is_told_from_a_newer_one() -> None:
    leases = Leases(60.0)
    leases.add(items("a"), now=0.0)
    assert leases.holds(Pending("a", None, 0, None, "stale", None))
    assert not leases.holds(Pending("a", None, 1, None, "stale", None))
    assert not leases.holds(Pending("b", None, 0, None, "missing", None))


def test_how_long_a_version_waits_counts_from_when_it_was_first_queued() -> None:
    leases = Leases(60.0)
    assert leases.longest_s(now=5.0) == 0.0
    leases.add(items("a", "b"), now=0.0)
    leases.add(items("a"), now=60.0)  # again: its lease was over
    assert leases.longest_s(now=70.0) == 70.0
    leases.written([("b", None)], now=70.0)
    assert leases.longest_s(now=70.0) == 70.0
    leases.add([Pending("a", None, 9, None, "missing", None)], now=80.0)  # its owner wrote it anew
    assert leases.longest_s(now=81.0) == 1.0
