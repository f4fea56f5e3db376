"""The vector fields of an index, as its mapping names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.ours import sentences_in
from trifuse.encoder.spaces import Space, has_spaces, spaces_in_meta
from trifuse.indexer.behind import Index, indexes_behind
from trifuse.indexer.errors import IndexNotOurs

QUERIES_PREFIX = "trifuse-queries-"
"""The index of an index's past queries is named by it."""


class EmbeddedField(msgspec.Struct, frozen=True):
    """One vector field of one concrete index.

    Args:
        index, uuid: the index, never an alias; a later index of the same name has another UUID.
        shards: its primary shards.
        field: the vector field.
        space: the space that its vectors are in.
    """

    index: str
    uuid: str
    shards: int
    field: str
    space: Space


def embedded_fields(client: OpenSearch, index: str) -> list[EmbeddedField]:
    """The vector fields of the index, or of each index behind an alias.

    Raises:
        IndexMissing: there is no such index.
        IndexNotOurs: none of its fields has a space.
        SpaceMismatch: a field has other dimensions than its space.
    """
    fields = [field for found in indexes_behind(client, index) for field in _fields(found)]
    if not fields:
        raise IndexNotOurs(
            f"the index {index!r} has no vector field with a space in its mapping's _meta: load into another "
            "index with `trifuse load`, or add vectors to this one with `trifuse attach`"
        )
    return fields


def field_of(index: Index, field: str, space: Space) -> EmbeddedField:
    """One vector field of an index."""
    return EmbeddedField(index.name, index.uuid, index.shards, field, space)


def embedded_indexes(client: OpenSearch) -> list[str]:
    """The names of the indexes that hold vectors of trifuse, sorted."""
    mappings = client.indices.get_mapping(index="*")
    return sorted(name for name, found in mappings.items() if has_spaces(found["mappings"].get("_meta")))


def embedded_field(client: OpenSearch, index: str, field: str) -> EmbeddedField:
    """One vector field of one index.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `embedded_fields`, or it has no such field.
    """
    fields = embedded_fields(client, index)
    for found in fields:
        if found.field == field:
            return found
    known = ", ".join(repr(found.field) for found in fields)
    raise IndexNotOurs(f"the index {index!r} has no vector field {field!r}, but {known}")


def companions(client: OpenSearch, index: str) -> list[str]:
    """The indexes that hold what belongs to this one: its sentences, its past queries; where they exist."""
    found: dict[str, Any] = client.indices.get_mapping(index=index)
    linked = [sentences_in(entry["mappings"].get("_meta")) for entry in found.values()]
    names = [*filter(None, linked), f"{QUERIES_PREFIX}{index}"]
    return [name for name in dict.fromkeys(names) if client.indices.exists(index=name)]


def _fields(index: Index) -> Iterator[EmbeddedField]:
    for field, space in spaces_in_meta(index.meta).items():
        dimension = index.properties.get(field, {}).get("dimension")
        if dimension != space.encoder.dimension:
            raise SpaceMismatch(
                f"the vector field {field!r} of the index {index.name!r} has dimension {dimension}, but its "
                f"space {space.id!r} has {space.encoder.dimension}: embed into a field of that dimension, or "
                "with another encoder (--encoder)"
            )
        yield field_of(index, field, space)
