"""Which documents an index of sentences is of: kept in its mapping's `_meta`. Pure functions.

{"trifuse": {"of": {"index": "notes", "uuid": "...", "trials": false, "text": ["body"], ...}}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trifuse.encoder.ours import meta_with, origin_in


class Origin(msgspec.Struct, frozen=True):
    """What sentences were made from.

    Args:
        index, uuid: the index of their parents; a later one of that name has another UUID.
        trials: whether these are trials, with a trial's sections and filters; then text, filters and values
            are empty.
        chosen: whether loads choose which documents have sentences: only of those that have some are they
            kept. Else each document has them.
        text: the paths of the fields that are split.
        filters: the fields that sentences repeat, as they were named.
        values: where their values stand in `_source`.
    """

    index: str
    uuid: str
    trials: bool = False
    chosen: bool = False
    text: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def origin_in_meta(meta: Mapping[str, Any] | None) -> Origin | None:
    """The origin that an index's `_meta` names; None where it names none."""
    known = origin_in(meta)
    return None if known is None else msgspec.convert(known, Origin)


def meta_with_origin(meta: Mapping[str, Any] | None, origin: Origin) -> dict[str, Any]:
    """`_meta` with the origin, and everything else kept (put-mapping replaces `_meta` whole)."""
    return meta_with(meta, "of", msgspec.json.decode(msgspec.json.encode(origin)))


def meta_with_chosen(meta: Mapping[str, Any] | None, origin: Origin) -> dict[str, Any]:
    """`_meta` with the origin of a load; each document goes on having sentences where that was asked for."""
    known = origin_in_meta(meta)
    every = known is not None and known.uuid == origin.uuid and not known.chosen
    return dict(meta or {}) if every else meta_with_origin(meta, origin)
