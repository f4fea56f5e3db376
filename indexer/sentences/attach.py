"""Sentences beside an index: an index of their own is made, says what it is of, and is named in `_meta`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.ours import meta_with, sentences_in
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.behind import Index, indexes_behind
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.mapping import SENTENCE_FILTERS, TRIAL_FIELDS, sentence_index, sentence_mapping
from trifuse.indexer.meta import change_meta
from trifuse.indexer.retry import reason_of
from trifuse.indexer.sentences.filters import FilterFields, filter_fields
from trifuse.indexer.sentences.origin import Origin, meta_with_chosen, meta_with_origin
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE

_OWNERS = ("analysis", "mapping", "similarity")
"""Settings that the mapping of a filter field may need: its analyzer, what is done with malformed values."""


def sentences_of_index(index: Index) -> str:
    """The index of the sentences that the mapping names, else the one to make.

    The same by the index's name and by an alias: else each would get sentences of its own.
    """
    return sentences_in(index.meta) or sentence_index(index.name.lstrip("."))


def holds_trials(index: Index) -> bool:
    """Whether `trifuse load` made the index, for trials."""
    return set(TRIAL_FIELDS) <= set(index.properties)


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
    parents = indexes_behind(client, index)
    fields = [_filters(parent, filters) for parent in parents]  # all are looked at before one is made
    for parent, found in zip(parents, fields, strict=True):
        origin = Origin(parent.name, parent.uuid, trials=True)
        if found is not None:
            origin = Origin(
                parent.name, parent.uuid, text=tuple(text), filters=tuple(filters), values=found.values
            )
        _make(client, parent, origin, space, found, meta_with_origin)
    return [sentences_of_index(parent) for parent in parents]


def make_trial_sentences(client: OpenSearch, index: str, space: Space) -> str:
    """The index of the sentences of trials, made and named if need be; which trials have some, loads choose.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `attach_sentences`.
    """
    (parent,) = indexes_behind(client, index)
    origin = Origin(parent.name, parent.uuid, trials=True, chosen=True)
    _make(client, parent, origin, space, None, meta_with_chosen)
    return sentences_of_index(parent)


def _filters(parent: Index, filters: Sequence[str]) -> FilterFields | None:
    """The filter fields of an index; None for those of trials."""
    if not holds_trials(parent):
        return filter_fields(parent.properties, filters, index=parent.name)
    if more := sorted(set(filters) - set(SENTENCE_FILTERS)):
        raise IndexNotOurs(
            f"sentences of trials (index {parent.name!r}) have no filter {', '.join(more)}, but "
            f"{', '.join(SENTENCE_FILTERS)}: leave it out (--filters)"
        )
    return None


def _make(
    client: OpenSearch,
    parent: Index,
    origin: Origin,
    space: Space,
    fields: FilterFields | None,
    merge: Callable[[Mapping[str, Any], Origin], dict[str, Any]],
) -> None:
    """Make the index of the sentences, or add what it lacks; `merge` puts the origin into its `_meta`."""
    name = sentences_of_index(parent)
    filters = None if fields is None else fields.properties
    body = sentence_mapping(space, filters=filters, shards=parent.shards)
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
        raise IndexNotOurs(
            f"the index {name!r} of the sentences of {parent!r} can't take its filter fields: "
            f"{reason_of(error)}; delete {name!r}, and do the same again: its sentences are made anew"
        ) from error
