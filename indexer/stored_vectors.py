"""Vectors as they are stored, of the field that queries go by: for what is learned or drawn from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import Space, serving_field
from trifuse.indexer.behind import indexes_behind
from trifuse.indexer.embedded import EmbeddedField, embedded_fields
from trifuse.indexer.pending import embedded_query, pages
from trifuse.indexer.reading import get_documents, refresh

_PLACES_AT_ONCE = 10_000
_VECTORS_AT_ONCE = 200


class Place(msgspec.Struct, frozen=True):
    """Where a vector is: the field of a concrete index, and the document."""

    index: str
    field: str
    id: str
    routing: str | None


class StoredVector(msgspec.Struct, frozen=True):
    """A document with its vector: `(dimension,) float32`, and the parts of `_source` that were asked for."""

    index: str
    id: str
    vector: NDArray[np.float32]
    source: Mapping[str, Any]


@dataclass(frozen=True)
class ServedVectors:
    """The vectors that queries of an index, or of an alias, go by.

    Args:
        space: the one space that all of them are in.
        fields: of each concrete index, with the alias's own filter where it has one.
    """

    space: Space
    fields: tuple[tuple[EmbeddedField, Mapping[str, Any] | None], ...]


def served_vectors(client: OpenSearch, index: str) -> ServedVectors:
    """The served vectors of an index, or of all indexes behind an alias.

    Raises:
        IndexMissing: there is no such index.
        IndexNotOurs: it has no vectors.
        SpaceMismatch: the indexes behind the alias serve vectors of several spaces.
    """
    behind = {found.name: found for found in indexes_behind(client, index)}
    fields = tuple(
        (field, (behind[field.index].aliases.get(index) or {}).get("filter"))
        for field in embedded_fields(client, index)
        if serving_field(behind[field.index].meta) == field.field
    )
    spaces = {field.space.id: field.space for field, _ in fields}
    if len(spaces) > 1:
        raise SpaceMismatch(
            f"the indexes behind {index!r} serve vectors of several spaces ({', '.join(sorted(spaces))}), "
            "which can't be compared: name one of the indexes, or embed them by one encoder"
        )
    return ServedVectors(next(iter(spaces.values())), fields)


def places(
    client: OpenSearch,
    served: ServedVectors,
    *,
    query: Mapping[str, Any] | None = None,
    source: Sequence[str] = (),
) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Where the vectors of the field's space are, in a fixed order of what isn't written meanwhile.

    Args:
        query: only of documents that match.
        source: the parts of `_source` to read with it.

    Raises:
        ServerUnavailable: some shards didn't answer in all retries.
    """
    for field, alias_filter in served.fields:
        refresh(client, field.index)
        wanted = [embedded_query(field), *filter(None, (alias_filter, query))]
        for shard in range(field.shards):
            for page in pages(
                client,
                field.index,
                shard,
                {"bool": {"filter": wanted}},
                source=source,
                size=_PLACES_AT_ONCE,
            ):
                for found in page:
                    yield Place(field.index, field.field, found.id, found.routing), found.source


def read_vectors(
    client: OpenSearch, wanted: Iterable[Place], *, source: Sequence[str] = ()
) -> Iterator[StoredVector]:
    """The vectors at these places, in their order; without those that are gone meanwhile.

    Raises:
        ServerUnavailable: a shard didn't answer in all retries.
    """
    for (index, field), some in groupby(wanted, key=lambda place: (place.index, place.field)):
        while batch := list(islice(some, _VECTORS_AT_ONCE)):
            hints = [(place.id, place.routing) for place in batch]
            for item in get_documents(client, index, hints, source=[field, *source]):
                found = item.get("_source") or {}
                vector = found.pop(field, None)
                if vector is not None:
                    yield StoredVector(index, item["_id"], np.asarray(vector, dtype=np.float32), found)
