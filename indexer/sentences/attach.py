"""Sentences beside an index: an index of their own is made, says what it is of, and is named in `_meta`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, RequestError

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.errors import IndexMissing, IndexNotOurs
from trifuse.indexer.mapping import SENTENCE_FILTERS, TRIAL_FIELDS, sentence_index, sentence_mapping
from trifuse.indexer.meta import change_meta
from trifuse.indexer.sentences.filters import FilterFields, filter_fields
from trifuse.indexer.sentences.origin import (
    Origin,
    link_in_meta,
    meta_with,
    meta_with_chosen,
    meta_with_origin,
)
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE

_OWNERS = ("analysis", "mapping", "similarity")
"""Settings that the mapping of a filter field may need: its analyzer, what is done with malformed values."""


class ParentIndex(msgspec.Struct, frozen=True):
    """A concrete index whose documents have sentences, or may have.

    Args:
        mapping, settings: as `GET /index` shows them; settings without `index.`.
    """

    name: str
    mapping: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def uuid(self) -> str:
        """A later index of this name has another."""
        return str(self.settings["uuid"])

    @property
    def sentences(self) -> str:
        """The index of the sentences that the mapping names, else the one to make.

        The same by the index's name and by an alias: else each would get sentences of its own.
        """
        return link_in_meta(self.mapping.get("_meta")) or sentence_index(self.name.lstrip("."))

    @property
    def trials(self) -> bool:
        """Whether `trifuse load` made it, for trials."""
        return set(TRIAL_FIELDS) <= set(self.mapping.get("properties") or {})


def parent_indexes(client: OpenSearch, index: str) -> Iterator[ParentIndex]:
    """The index, or each one behind an alias.

    Raises:
        IndexMissing: there is none.
    """
    try:
        found: dict[str, Any] = client.indices.get(index=index)
    except NotFoundError as error:
        raise IndexMissing(f"there is no index {index!r}: name one that exists") from error
    for name, entry in found.items():
        yield ParentIndex(name, entry["mappings"], entry["settings"]["index"])


def attach_sentences(
    client: OpenSearch, index: str, *, text: Sequence[str], encoder: EncoderSpace, filters: Sequence[str] = ()
) -> list[str]:
    """Make the index of the sentences, and name it in the `_meta` of the index; again, it changes nothing.

    It is empty until `keep_sentences` fills it. Trials that `trifuse load` has loaded are split into their
    own sections with their own filters, whatever `text` says.

    Args:
        index: an index, or an alias: each index behind it gets an index of sentences.
        text: paths of the fields to split.
        encoder: the space of the sentences' vectors.
        filters: fields that sentences repeat under the same names, so that one filter fits both.

    Returns:
        The names of the indexes of sentences.

    Raises:
        IndexMissing: there is no such index.
        IndexNotOurs: a filter can't be repeated, or another index has the name.
        SpaceMismatch: the sentences that exist have vectors of another space.
    """
    space = Space(encoder, SENTENCE_TEMPLATE)
    parents = list(parent_indexes(client, index))
    fields = [_filters(parent, filters) for parent in parents]  # all are looked at before one is made
    for parent, found in zip(parents, fields, strict=True):
        origin = Origin(parent.name, parent.uuid, trials=True)
        if found is not None:
            origin = Origin(
                parent.name, parent.uuid, text=tuple(text), filters=tuple(filters), values=found.values
            )
        _make(client, parent, origin, space, found, meta_with_origin)
    return [parent.sentences for parent in parents]


def make_trial_sentences(client: OpenSearch, index: str, space: Space) -> str:
    """The index of the sentences of trials, made and named if need be; which trials have some, loads choose.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `attach_sentences`.
    """
    (parent,) = parent_indexes(client, index)
    origin = Origin(parent.name, parent.uuid, trials=True, chosen=True)
    _make(client, parent, origin, space, None, meta_with_chosen)
    return parent.sentences


def _filters(parent: ParentIndex, filters: Sequence[str]) -> FilterFields | None:
    """The filter fields of an index; None for those of trials."""
    if not parent.trials:
        return filter_fields(parent.mapping.get("properties") or {}, filters, index=parent.name)
    if more := sorted(set(filters) - set(SENTENCE_FILTERS)):
        raise IndexNotOurs(
            f"sentences of trials (index {parent.name!r}) have no filter {', '.join(more)}, but "
            f"{', '.join(SENTENCE_FILTERS)}: leave it out (--filters)"
        )
    return None


def _make(
    client: OpenSearch,
    parent: ParentIndex,
    origin: Origin,
    space: Space,
    fields: FilterFields | None,
    merge: Callable[[Mapping[str, Any], Origin], dict[str, Any]],
) -> None:
    """Make the index of the sentences, or add what it lacks; `merge` puts the origin into its `_meta`."""
    name = parent.sentences
    shards = int(parent.settings["number_of_shards"])
    body = sentence_mapping(space, filters=None if fields is None else fields.properties, shards=shards)
    body["mappings"]["_meta"] = meta_with_origin(body["mappings"]["_meta"], origin)
    if fields is not None:
        own = {group: parent.settings[group] for group in _OWNERS if group in parent.settings}
        body["settings"]["index"].update(own)
    if not ensure_index(client, name, body):
        _extend(client, name, body["mappings"]["properties"], parent.name)
        change_meta(client, name, lambda meta: merge(meta, origin))
    change_meta(client, parent.name, lambda meta: meta_with(meta, "sentences", name))


def _extend(client: OpenSearch, name: str, properties: Mapping[str, Any], parent: str) -> None:
    """Add the fields that an index of sentences lacks; its vectors are checked already."""
    fields = {field: value for field, value in properties.items() if field not in (VECTOR_FIELD, MARKS)}
    try:
        client.indices.put_mapping(index=name, body={"properties": fields})
    except RequestError as error:
        info: Any = error.info
        raise IndexNotOurs(
            f"the index {name!r} of the sentences of {parent!r} can't take its filter fields: "
            f"{info['error']['reason']}; delete {name!r}, and do the same again: its sentences are made anew"
        ) from error
