"""Vectors of single parts, where another encoder is to come: which of them there will be of its own."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space, part_fields, spaces_in_meta
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.part_fields import add_part_fields
from trifuse.indexer.progress import Tell
from trifuse.indexer.reembed.fields import Held
from trifuse.indexer.sync import sync_field


class PartVectors(msgspec.Struct, frozen=True):
    """Parts whose own vectors an index has, by the encoder that it is embedded anew from.

    Args:
        follow: those that the new encoder gives vectors as well.
        end: the others: there are none after the switch.
    """

    follow: tuple[str, ...] = ()
    end: tuple[str, ...] = ()


def parted(old: Held, space: Space) -> PartVectors:
    """What becomes of an index's vectors of parts in another space."""
    stage = old.stage
    found = part_fields(old.meta, stage.serving)
    there = [part for part in dict.fromkeys(stage.space.template.parts) if part in found]
    return PartVectors(
        tuple(part for part in there if part in space.template.parts),
        tuple(part for part in there if part not in space.template.parts),
    )


def add_parts(client: OpenSearch, old: Held, index: str, field: str, space: Space) -> None:
    """Add a field for each part whose own vectors the index has, and that the new space has as well.

    Args:
        old: the index, served in the old space.
        index, field, space: where the new vectors of whole documents are.
    """
    add_part_fields(client, index, parted(old, space).follow, field=field)


def fill_parts(
    client: OpenSearch,
    held: Held,
    whole: EmbeddedField,
    enqueue: Enqueue,
    patience: Patience,
    listening: Callable[[Space], bool] | None,
    progress: Tell | None,
) -> str:
    """Have the fields of a new field's parts filled, and wait for it; why that stalled, or ""."""
    spaces = spaces_in_meta(held.meta)
    for name in part_fields(held.meta, whole.field).values():
        target = held.target(name, spaces[name])
        seen = sync_field(client, target, enqueue, patience, listening, progress)
        if seen.stalled:
            return seen.stalled
    return ""
