"""Indexes made where they are missing, and checked where they exist, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, RequestError

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space, meta_with_space, require_same_space, serving_field, spaces_in_meta
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.meta import change_meta
from trifuse.indexer.names import name_fault
from trifuse.indexer.retry import reason_of


def ensure_index(client: OpenSearch, name: str, body: Mapping[str, Any]) -> bool:
    """Make the index; or check that the one that exists is served in the space of `body`.

    The field needn't be that of `body`: an index that was embedded anew is served by another.

    Returns:
        Whether it was made now.

    Raises:
        SpaceMismatch: it exists, with vectors of another space.
        IndexNotOurs: it exists without vectors of a space, stands for several, or the name can't be that of
            an index.
    """
    if fault := name_fault(name):
        raise IndexNotOurs(f"{name!r} can't be the name of an index: {fault}; choose another (--index)")
    made = make_index(client, name, body)
    if not made:
        for field, space in spaces_in_meta(body["mappings"].get("_meta")).items():
            served = serving_of(client, name, field)
            check_space(client, name, served, space)
            _name_query_tower(client, name, served, space)
    return made


def serving_of(client: OpenSearch, name: str, default: str = VECTOR_FIELD) -> str:
    """The vector field that queries of the first index behind a name go by; `default` where it has none."""
    metas = (entry["mappings"].get("_meta") for entry in client.indices.get_mapping(index=name).values())
    return next(filter(None, map(serving_field, metas)), default)


def _name_query_tower(client: OpenSearch, name: str, field: str, space: Space) -> None:
    """Name the encoder's query tower in `_meta`: another one than before moves no document's vector."""
    for index, entry in client.indices.get_mapping(index=name).items():
        meta = entry["mappings"].get("_meta")
        if spaces_in_meta(meta)[field].encoder.query_tower != space.encoder.query_tower:
            change_meta(client, index, lambda found: meta_with_space(found, field, space))


def make_index(client: OpenSearch, name: str, body: Mapping[str, Any]) -> bool:
    """Make an index; whether there was none of that name.

    Raises:
        IndexNotOurs: no index can have the name.
    """
    if client.indices.exists(index=name):
        return False
    try:
        client.indices.create(index=name, body=body)
    except RequestError as error:
        if error.error == "resource_already_exists_exception":
            return False  # another process was first
        if error.error == "invalid_index_name_exception":
            raise IndexNotOurs(
                f"{name!r} can't be the name of an index: {reason_of(error)}; choose another"
            ) from error
        raise
    return True


def check_space(client: OpenSearch, index: str, field: str, space: Space) -> None:
    """Refuse an index whose vectors in `field` are not of `space`.

    Raises:
        SpaceMismatch: they have another dimension, are another encoder's, or of other texts.
        IndexNotOurs: there is no such index, or no space is known for the field.
    """
    try:
        found: dict[str, Any] = client.indices.get_mapping(index=index)
    except NotFoundError as error:
        raise IndexNotOurs(f"there is no index {index!r}: `trifuse load` makes it") from error
    if len(found) > 1:
        raise IndexNotOurs(f"{index!r} stands for {', '.join(map(repr, sorted(found)))}: name one of these")
    for name, entry in found.items():
        _check_mapping(entry["mappings"], f"field {field!r} of index {name!r}", field, space)


def _check_mapping(mapping: Mapping[str, Any], what: str, field: str, space: Space) -> None:
    dimension = mapping.get("properties", {}).get(field, {}).get("dimension")
    if dimension not in (None, space.encoder.dimension):
        raise SpaceMismatch(
            f"{what} holds vectors of {dimension} dimensions, but the encoder {space.encoder.encoder!r} "
            f"makes {space.encoder.dimension}: use the encoder that the index was made for (--encoder), or "
            "another index"
        )
    known = spaces_in_meta(mapping.get("_meta")).get(field)
    if known is None or dimension is None:
        raise IndexNotOurs(
            f"{what} has no vectors of a known space (in the mapping's _meta): the index wasn't made by "
            "`trifuse load`; choose another name, or add vectors to it with `trifuse attach`"
        )
    require_same_space(space.encoder, known.encoder, what=what)
    if known.template != space.template:
        raise SpaceMismatch(
            f"{what} is made from texts by the template {known.template.as_dict()}, but "
            f"{space.template.as_dict()} is asked for: use the same template, or another index"
        )
