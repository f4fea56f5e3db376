"""The click-through rate expected at each rank: what a click at that rank is held against.

People click less on what stands lower, whatever it is worth. A document's expected clicks are the rates at
the ranks where it was shown, added up; its clicks over them say what it is worth wherever it stood: Zhang and
Jones 2007, "Comparing click logs and editorial labels for training query rewriting" (COEC).

An index's curve is kept in the mapping of its event index, under `_meta.trifuse.positions`: the rates at rank
1, 2, … Where none is kept, `DEFAULT_CURVE` holds. `trifuse clicks positions --save` estimates one from the
log (`trifuse.worker.clicks.rates`).
"""

from __future__ import annotations

from collections.abc import Sequence

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.encoder.ours import meta_with, ours_in
from trifuse.indexer.meta import change_meta, read_meta
from trifuse.worker.clicks.errors import BadCurve, NoEvents
from trifuse.worker.clicks.indexes import events_index

RANKS = 20
"""So many ranks have a rate; what is shown below them counts as not seen."""

_KEY = "positions"

DEFAULT_CURVE = tuple(0.3 / rank for rank in range(1, RANKS + 1))


def expected(curve: Sequence[float], position: int | None) -> float:
    """The clicks expected where a document is shown once at a rank (from 1); 0.0 where no rank is known.

    >>> expected((0.5, 0.25), 2), expected((0.5, 0.25), 3), expected((0.5, 0.25), None)
    (0.25, 0.0, 0.0)
    """
    return curve[position - 1] if position is not None and 1 <= position <= len(curve) else 0.0


def curve(client: OpenSearch, index: str) -> tuple[float, ...]:
    """The curve of a search index's click log: the one that is kept, else `DEFAULT_CURVE`.

    Raises:
        BadCurve: what is kept is no curve.
    """
    kept = saved_curve(client, index)
    return DEFAULT_CURVE if kept is None else kept


def saved_curve(client: OpenSearch, index: str) -> tuple[float, ...] | None:
    """The curve that is kept with a search index's events; None where none is.

    Raises:
        BadCurve: what is kept is no curve.
    """
    try:
        value = ours_in(read_meta(client, events_index(index))).get(_KEY)
    except NotFoundError:
        return None
    return None if value is None else checked_curve(value)


def save_curve(client: OpenSearch, index: str, rates: Sequence[float]) -> None:
    """Keep a curve with a search index's events; everything else in their mapping's `_meta` stays.

    Raises:
        BadCurve: these rates are no curve.
        NoEvents: there is no event index to keep it with.
        IndexNotOurs: another program undoes it.
    """
    kept = list(checked_curve(list(rates)))
    try:
        change_meta(client, events_index(index), lambda meta: meta_with(meta, _KEY, kept))
    except NotFoundError:
        raise NoEvents(
            f"{index!r} has no click events: `trifuse clicks load FILE --index {index}` takes a log's"
        ) from None


def checked_curve(value: object) -> tuple[float, ...]:
    """Rates as a curve.

    Raises:
        BadCurve: they aren't 1 to 20 numbers from 0 to 1.
    """
    if isinstance(value, list) and 1 <= len(value) <= RANKS and all(map(_is_rate, value)):
        return tuple(float(rate) for rate in value)
    raise BadCurve(
        f"expected 1 to {RANKS} click-through rates from 0 to 1, got {value!r:.100}: "
        "`trifuse clicks positions --save` writes them anew where pages are logged; else take "
        "`trifuse.positions` out of the `_meta` of the event index"
    )


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
