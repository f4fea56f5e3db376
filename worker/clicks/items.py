"""What an event adds to the counts: a click, a page of results that was seen, or both. Pure functions.

A visitor's click on one document counts once a day for one query, and so does the first page that a visitor
saw of a query that day: nobody moves a ranking by clicking, or by searching, again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trifuse.worker.clicks.positions import expected
from trifuse.worker.clicks.store import StoredEvent


class Item(msgspec.Struct, frozen=True, gc=False):
    """What is counted at once, or not at all.

    Args:
        event: whose it is; its identity where there is no visitor.
        query: the past query's id.
        timestamp: seconds since 1970.
        docs: the document that was clicked, or those of the page.
        expected: the clicks that were to be expected of each.
        clicks: 0 for a page.
        visitor: who did it; None where the log doesn't say.
    """

    event: str
    query: str
    timestamp: float
    docs: tuple[str, ...]
    expected: tuple[float, ...]
    clicks: int = 1
    visitor: str | None = None


def items_of(event: StoredEvent, curve: Sequence[float]) -> Iterator[Item]:
    """What an event adds: its click, and the page that was seen.

    A click says what page it was made on by `shown`. Where it names its search (`query_id`), the search's own
    impression says so, and the click adds nothing to what is expected. Of a click that knows its position
    alone, its own document is expected. A click by a visitor is one, whatever its `count` says: that is for
    logs that were added up before, and those have no visitors.

    Args:
        curve: the clicks expected at each rank.
    """
    visitor, when = event.visitor, event.timestamp / 1000.0
    alone = event.query_id is None and not event.shown
    if event.kind == "click" and event.doc_id is not None:
        yield Item(
            event.event_id,
            event.query_key,
            when,
            (event.doc_id,),
            (expected(curve, event.position) if alone else 0.0,),
            event.count if visitor is None else 1,
            visitor,
        )
        if event.query_id is not None:
            return
    shown = event.shown[: len(curve)]
    if shown:
        rates = tuple(curve[: len(shown)])
        yield Item(f"page:{event.event_id}", event.query_key, when, shown, rates, 0, visitor)
