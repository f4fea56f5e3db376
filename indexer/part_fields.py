"""Vector fields of single parts: beside the vector of a whole document that of its title, condition, ..."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import (
    Space,
    meta_serving,
    meta_with_space,
    next_field,
    serving_field,
    spaces_in_meta,
)
from trifuse.indexer.behind import Index, indexes_behind
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.mapping import marks_property, vector_property
from trifuse.indexer.meta import change_meta
from trifuse.indexer.retry import reason_of


def add_part_fields(
    client: OpenSearch, name: str, parts: Iterable[str], *, field: str | None = None
) -> list[str]:
    """Give each index behind a name one more vector field a part; those that there are stay.

    A part that an index's texts don't have is left out. Queries go by the field that they went by before.
    Vectors are left to `sync`.

    Args:
        parts: such as `ModelDescription.key_parts`.
        field: the vector field of the whole documents; None: the one that queries go by.

    Returns:
        The names of the new fields.

    Raises:
        IndexMissing: there is no such index.
        IndexNotOurs: an index has no vectors, or its mapping takes no more fields.
        SpaceMismatch: an index's vectors are of whole texts, or what stands in its `_meta` can't be read.
    """
    parts = list(parts)
    if not parts:
        return []
    plans = [(index, *_missing(index, parts, field)) for index in indexes_behind(client, name)]
    for index, serving, spaces in plans:
        if spaces:
            _add(client, index, serving, spaces)
    return list(dict.fromkeys(new for _, _, spaces in plans for new in spaces))


def _missing(index: Index, parts: Sequence[str], field: str | None) -> tuple[str, dict[str, Space]]:
    """The field that queries go by, and the fields of parts that an index lacks."""
    spaces, serving = spaces_in_meta(index.meta), serving_field(index.meta)
    if serving is None:
        raise IndexNotOurs(
            f"the index {index.name!r} has no vectors to add those of parts to: give it some with `trifuse "
            "load` or `trifuse attach`"
        )
    whole = field or serving
    space = spaces[whole]
    if not space.template.parts:
        raise SpaceMismatch(
            f"the index {index.name!r} has vectors of whole texts, by {space.encoder.encoder!r}: only an "
            "encoder of parts has vectors of parts"
        )
    known = {found.id for found in spaces.values()}
    taken = {*index.properties}
    missing: dict[str, Space] = {}
    for part in parts:
        if part in space.template.parts and (local := space.of_part(part)).id not in known:
            new = next_field({*taken, *missing}, f"{whole}_{part}")
            missing[new] = local
    return serving, missing


def _add(client: OpenSearch, index: Index, serving: str, spaces: Mapping[str, Space]) -> None:
    def merged(meta: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(meta)
        for field, space in spaces.items():
            found = meta_with_space(found, field, space)
        return meta_serving(found, serving)

    properties = {field: vector_property(space, exact=not index.knn) for field, space in spaces.items()}
    try:
        change_meta(client, index.name, merged, properties={**properties, MARKS: marks_property(spaces)})
    except RequestError as error:
        raise IndexNotOurs(
            f"the mapping of the index {index.name!r} takes no vectors of parts: {reason_of(error)}; remedy "
            "that, or leave out --part-vectors"
        ) from error
