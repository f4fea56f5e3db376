"""Take out of an index what attaching put in, as far as OpenSearch allows, and say what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, space_path
from trifuse.encoder.ours import sentences_in
from trifuse.encoder.spaces import spaces_in_meta
from trifuse.indexer.attach.apply import KIND, remove_ours
from trifuse.indexer.attach.take_back import attached_copies, take_back
from trifuse.indexer.behind import Index, index_known, indexes_behind
from trifuse.indexer.copying.copies import Copy
from trifuse.indexer.cursors import forget_cursors
from trifuse.indexer.embedded import EmbeddedField, field_of
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.failures import forget_failures
from trifuse.indexer.sentences.origin import origin_in_meta
from trifuse.indexer.state import delete_state
from trifuse.indexer.take_out import take_out

# `record` is the mark of a load, which needs it to know the record again.
_SCRIPT = """
for (field in params.fields) { ctx._source.remove(field); }
def marks = ctx._source.get('trifuse');
if (marks instanceof Map) {
  marks.remove('fields'); marks.remove('source');
  if (marks.isEmpty()) { ctx._source.remove('trifuse'); }
}
"""


class DetachReport(msgspec.Struct, frozen=True):
    """What was taken out, and what stays.

    Args:
        indexes: the indexes that had vectors.
        documents: documents that a vector or a mark was taken out of.
        deleted: indexes of ours that were deleted.
        stays: what can't be taken out, in sentences.
    """

    indexes: tuple[str, ...]
    documents: int
    deleted: tuple[str, ...]
    stays: tuple[str, ...]


def detach(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> DetachReport:
    """Take vectors, marks and our part of `_meta` out of an index, or of all behind an alias.

    First goes what queries, workers and syncs go by, then the vectors. Interrupted, it goes on when it is run
    again; that also takes out what a worker wrote that was in the middle of a batch.

    Args:
        progress: told how many documents are done.

    Raises:
        IndexMissing: nothing has that name.
        IndexNotOurs: there is nothing of ours in it.
        CopyRefused: it is being embedded anew by a copy.
        DetachUnfinished: other writers keep changing what is to be cleaned.
    """
    works = [work for index in indexes_behind(client, name) if (work := _work(client, index))]
    copies = attached_copies(client, name)
    if not works and not copies:
        raise IndexNotOurs(f"{name!r} has no vectors of trifuse: there is nothing to detach")
    if copies:
        return _without_copies(client, copies)
    deleted = [gone for work in works for gone in _forget(client, work)]
    for work in works:
        remove_ours(client, work.index)
    done = 0
    for work in works:
        for count in take_out(client, work.index, work.query, _SCRIPT, {"fields": work.fields}):
            done += count
            if progress is not None:
                progress(done)
        delete_state(client, KIND, work.uuid)
    return DetachReport(tuple(work.index for work in works), done, tuple(deleted), tuple(_stays(works)))


def _without_copies(client: OpenSearch, copies: Sequence[Copy]) -> DetachReport:
    """Give up copies: the owner's documents were never written to."""
    deleted: list[str] = []
    stays: list[str] = []
    for copy in copies:
        (index,) = indexes_behind(client, copy.index)
        stays.append(take_back(client, copy))
        work = _work(client, index, there=False)
        deleted += [copy.index, *(_forget(client, work) if work else ())]
    return DetachReport(tuple(copy.source for copy in copies), 0, tuple(deleted), tuple(stays))


class _Work(msgspec.Struct, frozen=True):
    """What is to be taken out of one index.

    Args:
        fields: the vector fields.
        targets: those that `_meta` still names.
        sentences: the index of its sentences.
    """

    index: str
    uuid: str
    fields: list[str]
    targets: list[EmbeddedField]
    sentences: str | None

    @property
    def query(self) -> dict[str, Any]:
        """Documents with a vector or a mark."""
        marked = [{"exists": {"field": path}} for field in self.fields for path in (field, space_path(field))]
        return {"bool": {"should": marked, "minimum_should_match": 1}}


def _work(client: OpenSearch, index: Index, *, there: bool = True) -> _Work | None:
    """What `_meta` names; or what the mapping has marks for, where documents hold some.

    The latter is what an interrupted detachment has left, or a worker that was in the middle of a batch.
    """
    spaces = spaces_in_meta(index.meta)
    targets = [field_of(index, field, space) for field, space in spaces.items()]
    fields = sorted({*spaces, *_marked(index.properties)})
    sentences = sentences_in(index.meta) if spaces else None
    work = _Work(index.name, index.uuid, fields, targets, sentences)
    if spaces or (there and fields and client.count(index=index.name, body={"query": work.query})["count"]):
        return work
    return None


def _marked(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The vector fields that the mapping has marks for."""
    marks = (properties.get(MARKS) or {}).get("properties") or {}
    found: dict[str, Any] = (marks.get("fields") or {}).get("properties") or {}
    return found


def _forget(client: OpenSearch, work: _Work) -> list[str]:
    """Delete what is kept beside the index; the names of indexes that were deleted."""
    for target in work.targets:
        forget_cursors(client, target)
    forget_failures(client, work.uuid)
    if not work.sentences or not client.indices.exists(index=work.sentences):
        return []
    meta = client.indices.get_mapping(index=work.sentences)[work.sentences]["mappings"].get("_meta")
    origin = origin_in_meta(meta)
    if origin is not None and origin.uuid != work.uuid and index_known(client, origin.index, origin.uuid):
        return []  # a copy has taken them over; where theirs is gone, nobody has yet
    client.indices.delete(index=work.sentences)
    return [work.sentences]


def _stays(works: Sequence[_Work]) -> list[str]:
    fields = ", ".join(dict.fromkeys([*(field for work in works for field in work.fields), MARKS]))
    return [
        f"the mapping keeps the fields {fields}, which are empty now: OpenSearch takes none out of a mapping",
        "versions and sequence numbers of the documents stay as high as they are",
        "disk is freed as segments are merged",
    ]
