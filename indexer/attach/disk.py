"""What vectors take on disk and in responses, against what there is. Pure functions."""

from __future__ import annotations

import msgspec

_LINKS = 2 * 16
"""Neighbours that Lucene's graph keeps for a document in its lowest layer: twice `m`, by default 16."""

_GRAPH_UPPER = 1.1
_DIGITS = 12.5
"""Characters of one number of a unit-norm vector in JSON, with its sign and comma, as our encoders' are."""

_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}


class NodeDisk(msgspec.Struct, frozen=True):
    """The disk of one data node, in bytes.

    Args:
        free: what may still be written.
        low: what must stay free, or no further shard is placed here.
        flood: what must stay free, or the indexes here become read-only.
    """

    free: int
    low: int
    flood: int


def reserve(watermark: str, total: int) -> int:
    """The bytes that must stay free: of `85%` or `0.85` used, or of `500mb` free.

    >>> reserve("85%", 1000), reserve("1kb", 5000)
    (150, 1024)
    """
    text = watermark.strip().lower()
    if text.endswith("%"):
        return total - round(float(text[:-1]) / 100 * total)
    for unit in sorted(_UNITS, key=len, reverse=True):
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * _UNITS[unit])
    return total - round(float(text) * total)


def bytes_per_hit(dimension: int) -> int:
    """What a vector adds to a hit, in bytes of JSON."""
    return round(dimension * _DIGITS)


def bytes_per_document(dimension: int, *, graph: bool, derived_source: bool) -> int:
    """What a vector takes in one copy of a document: its numbers, links in the graph, text in `_source`.

    Args:
        graph: whether k-NN is on.
        derived_source: whether the server leaves vectors out of the stored `_source`.
    """
    numbers = 4 * dimension
    links = round(_GRAPH_UPPER * 4 * _LINKS) if graph else 0
    return numbers + links + (0 if derived_source else bytes_per_hit(dimension))


def human(size: int) -> str:
    """A size for people.

    >>> human(1536), human(4_900)
    ('1.5 kB', '4.8 kB')
    """
    amount, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1024 or unit == "TB":
            break
        amount /= 1024
    return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
