"""How far an index was checked."""

from __future__ import annotations

from trifuse.indexer.counts import Counts, total
from trifuse.indexer.cursors import Cursors, Shard


def test_a_cursor_counts_for_its_own_shard_and_history() -> None:
    cursors = Cursors({"0": ("h1", 41), "1": ("h2", 7)})
    assert cursors.after(Shard(0, "h1", 50)) == 41
    assert cursors.after(Shard(1, "h2", 50)) == 7
    assert cursors.after(Shard(1, "restored", 50)) == -1
    assert cursors.after(Shard(2, "h1", 50)) == -1


def test_counts_of_several_indexes_are_as_old_as_the_oldest() -> None:
    first = Counts(10, 4, 1, 2, 1, 2, "2026-01-02T00:00:00+00:00")
    second = Counts(3, 3, 0, 0, 0, 0, "2026-01-01T00:00:00+00:00")
    assert total([first, second]) == Counts(13, 7, 1, 2, 1, 2, "2026-01-01T00:00:00+00:00")
    never = Counts(1, 0, 0, 1, 0, 0, None)
    assert total([first, never]).stale_as_of is None
    assert total([first, never]).pending == 4
