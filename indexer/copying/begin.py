"""Make the copy of an index, or take up one that was begun."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.behind import Index, aliases_of, indexes_behind, is_on, names_behind
from trifuse.indexer.copying.blocks import flat_settings
from trifuse.indexer.copying.body import copy_body, source_fault
from trifuse.indexer.copying.copies import (
    Copy,
    all_copies,
    base_name,
    door_name,
    find_copy,
    keep_reached,
    read_reached,
)
from trifuse.indexer.ensure import make_index
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.names import name_fault


def begin(
    client: OpenSearch,
    source: str,
    *,
    alias: str,
    space_field: tuple[str, Space],
    drop_fields: Iterable[str] = (),
) -> Copy:
    """Make an empty copy of an index; or take up the unfinished one of the same source, alias and space.

    Two processes that begin the same at the same time go on with one copy.

    Args:
        source: an index, or an alias of one.
        alias: the alias that will be switched; it stands for the source alone, or for nothing yet.
        space_field: the vector field of the copy, and its space.
        drop_fields: vector fields of ours that the copy doesn't have.

    Raises:
        IndexMissing: there is no such source.
        CopyRefused: it can't be copied, or the alias can't be switched.
    """
    field, space = space_field
    drop = tuple(sorted(set(drop_fields) - {field}))
    of = _source(client, source)
    copy = _begun(client, of, alias, space_field)
    if copy is None:
        _check_alias(client, alias, of.name)
        told = {"source": of.name, "uuid": of.uuid, "alias": alias, "field": field, "drop": ",".join(drop)}
        entry = {"settings": flat_settings(client, of.name), "mappings": of.mappings}
        made = _make(client, of.name, copy_body(entry, field, space, drop, of=told))
        copy = _begun(client, of, alias, space_field) or made
        if copy.index != made.index:
            client.indices.delete(index=made.index)
    _try_rejected_again(client, copy)
    return copy


def _begun(client: OpenSearch, of: Index, alias: str, space_field: tuple[str, Space]) -> Copy | None:
    """The oldest unfinished copy of this kind; None where there is none."""
    field, space = space_field
    for copy in all_copies(client, of.name):
        same = (copy.source_uuid, copy.alias, copy.field, copy.space.id) == (of.uuid, alias, field, space.id)
        if same and copy.standing.phase in ("filling", "switching"):
            return copy
    return None


def _source(client: OpenSearch, source: str) -> Index:
    found = indexes_behind(client, source)
    if len(found) > 1:
        raise CopyRefused(
            f"{source!r} stands for {_listed(index.name for index in found)}: name one of these"
        )
    (index,) = found
    if index.data_stream:
        raise CopyRefused(
            f"{source!r} is of a data stream, whose indexes can't be replaced by copies: do it in place "
            "(--in-place, or no --copy)"
        )
    if is_on(index.settings.get("verified_before_close")):
        raise CopyRefused(f"the index {index.name!r} is closed, and can't be read: open it")
    if fault := source_fault(index.mappings):
        raise CopyRefused(
            f"the index {index.name!r} can't be copied, for {fault}: a copy is made from _source; load the "
            "records anew into an index that keeps it whole"
        )
    return index


def _check_alias(client: OpenSearch, alias: str, source: str) -> None:
    if fault := name_fault(alias):
        raise CopyRefused(f"{alias!r} can't be the name of an alias: {fault}; choose another")
    behind = names_behind(client, alias)
    if alias in behind:
        raise CopyRefused(
            f"{alias!r} is an index, so that it can't be an alias that is switched: give another name, "
            "which readers and writers go to then (--alias)"
        )
    if behind - {source}:
        raise CopyRefused(
            f"the alias {alias!r} stands for {_listed(behind)}, and a switch moves one index: "
            "give another alias"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _make(client: OpenSearch, source: str, body: dict[str, Any]) -> Copy:
    base, number = base_name(source), 2
    # With the alias that it is filled through.
    while not make_index(
        client, index := f"{base}-trifuse-{number}", {**body, "aliases": {door_name(index, 1): {}}}
    ):
        number += 1
    given = set(aliases_of(client, index)) - {door_name(index, 1)}
    if given:
        client.indices.delete(index=index)
        raise CopyRefused(
            f"an index template gives the alias {_listed(given)} to indexes named like {index!r}, so that a "
            "copy would be searched before it is complete: take the alias out of the template"
        )
    return find_copy(client, index)


def _try_rejected_again(client: OpenSearch, copy: Copy) -> None:
    """Have documents that the copy didn't take read again: what stood in the way may be gone."""
    reached = read_reached(client, copy)
    shards = dict(reached.shards)
    for item in reached.rejected:
        history, seq_no = shards.get(str(item.shard), ("", -1))
        shards[str(item.shard)] = (history, min(seq_no, item.seq_no - 1))
    if reached.rejected:
        keep_reached(client, copy, msgspec.structs.replace(reached, shards=shards, rejected=()))
