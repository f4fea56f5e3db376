"""How far each index with vectors is: its counts, how fast it goes on, and what failed why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.copying.copies import all_copies
from trifuse.indexer.counts import Counts, count_field
from trifuse.indexer.embedded import EmbeddedField, embedded_fields
from trifuse.indexer.failures import failures_by_reason
from trifuse.indexer.retry import Retry
from trifuse.worker.inspection import WorkerInfo

MOST_REASONS = 5
_BRIEF = Retry(retries=3)

Rates = Mapping[tuple[str, str], float]
"""Documents a second, by index and vector field."""


class CopyStatus(msgspec.Struct, frozen=True):
    """An index that is a copy of another.

    Args:
        index, source: the copy, and what it is a copy of.
        alias: is switched to the copy when it is complete.
        phase: `filling`; `switching` or `returning` while the alias moves there or back; `switched`.
    """

    index: str
    source: str
    alias: str
    phase: str


def copies_at(client: OpenSearch, name: str) -> list[CopyStatus]:
    """What the index is a copy of, where it is one. Raises IndexMissing where it was deleted meanwhile."""
    return [
        CopyStatus(copy.index, copy.source, copy.alias, copy.standing.phase)
        for copy in all_copies(client, name)
        if copy.index == name
    ]


def rates_of(workers: Iterable[WorkerInfo]) -> Rates:
    """What all workers do together."""
    found: Counter[tuple[str, str]] = Counter()
    for worker in workers:
        for index, fields in worker.rates.items():
            for field, rate in fields.items():
                found[index, field] += rate  # type: ignore[assignment]
    return found


def index_status(client: OpenSearch, name: str, rates: Rates) -> dict[str, Any]:
    """The counts of an index, of the vector field that is furthest behind; and of each, where it has several.

    Beside the counts: `encoder`, whose vectors they are; `rate`, documents a second in the last minute;
    `eta_s`, how many seconds what is pending takes at that rate, null where nothing moves; `reasons`, why
    documents failed, with how many each.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: it was deleted or changed meanwhile.
    """
    fields = {target.field: (target, count_field(client, target)) for target in embedded_fields(client, name)}
    told = {field: _told(client, target, counts, rates) for field, (target, counts) in fields.items()}
    first = min(fields, key=lambda field: fields[field][1].current)
    return told[first] | ({"fields": told} if len(told) > 1 else {})


def _told(client: OpenSearch, target: EmbeddedField, counts: Counts, rates: Rates) -> dict[str, Any]:
    rate = rates.get((target.index, target.field), 0.0)
    reasons = failures_by_reason(client, target, retry=_BRIEF) if counts.failed else {}
    counted: dict[str, Any] = msgspec.to_builtins(counts)
    return counted | {
        "encoder": target.space.encoder.encoder,
        "rate": round(rate, 2),
        "eta_s": eta_s(counts.pending, rate),
        "reasons": dict(list(reasons.items())[:MOST_REASONS]),
    }


def eta_s(pending: int, rate: float) -> int | None:
    """Seconds that so many documents take at a rate; 0 where none are pending, None where nothing moves.

    >>> eta_s(100, 8.0), eta_s(0, 0.0), eta_s(5, 0.0)
    (13, 0, None)
    """
    if not pending:
        return 0
    return math.ceil(pending / rate) if rate > 0 else None
