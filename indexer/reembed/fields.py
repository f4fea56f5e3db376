"""The second vector field of an index: added to its mapping, taken out of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, VECTOR_FIELD, space_path
from trifuse.encoder.spaces import Space, next_field
from trifuse.indexer.behind import Index, indexes_behind
from trifuse.indexer.cursors import forget_cursors
from trifuse.indexer.embedded import EmbeddedField, field_of
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.failures import forget_failures
from trifuse.indexer.mapping import marks_property, vector_property
from trifuse.indexer.meta import change_meta, read_meta
from trifuse.indexer.reembed.stage import (
    Stage,
    dropping_in_meta,
    meta_begun,
    meta_done,
    meta_dropping,
    read_stage,
)
from trifuse.indexer.take_out import take_out

_SCRIPT = """
Map holder = ctx._source;
for (int i = 0; i < params.path.length - 1 && holder != null; i++) {
  def next = holder.get(params.path[i]);
  holder = next instanceof Map ? next : null;
}
if (holder != null) { holder.remove(params.path[params.path.length - 1]); }
ctx._source.remove(params.field);
def marks = ctx._source.get('trifuse');
if (marks instanceof Map && marks.get('fields') instanceof Map) { marks.get('fields').remove(params.field); }
"""


class Held(Index, frozen=True, kw_only=True):
    """One index as it is, and how far it has come."""

    @property
    def stage(self) -> Stage:
        """How far it has come."""
        return read_stage(self.name, self.meta)

    def target(self, field: str, space: Space) -> EmbeddedField:
        """One of its vector fields."""
        return field_of(self, field, space)


def read_index(client: OpenSearch, name: str) -> Held:
    """The one index behind a name.

    Raises:
        IndexMissing: there is none.
        IndexNotOurs: the name stands for several.
    """
    found = indexes_behind(client, name)
    if len(found) != 1:
        names = ", ".join(repr(index.name) for index in found)
        raise IndexNotOurs(f"{name!r} stands for {names}: embed each of these anew by its name")
    return Held(**msgspec.structs.asdict(found[0]))


def add_field(client: OpenSearch, held: Held, space: Space) -> None:
    """Map one more vector field, and name it in `_meta` as the one that is being filled.

    One that was in use before is never taken again: vectors of its old space may be left in it.
    """
    new = next_field(held.properties, VECTOR_FIELD)
    properties = {new: vector_property(space, exact=not held.knn), MARKS: marks_property([new])}
    old = held.stage.serving
    change_meta(client, held.name, lambda meta: meta_begun(meta, old, new, space), properties=properties)


def drop_field(client: OpenSearch, held: Held, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the field that isn't served out of use, then out of the documents; how many had a vector in it.

    With it go the vectors of its parts. Interrupted, it goes on when it is called again.

    Args:
        progress: told how many documents are done, those included that have no text and only a mark.

    Raises:
        DetachUnfinished: other writers keep changing what is to be cleaned.
    """
    stage = held.stage
    if stage.other is None or stage.other_space is None:
        return 0
    field = stage.other
    change_meta(client, held.name, lambda meta: meta_dropping(meta, field))
    client.indices.refresh(index=held.name)
    vectors = int(client.count(index=held.name, body={"query": {"exists": {"field": field}}})["count"])
    done = 0
    for name, space in dropping_in_meta(read_meta(client, held.name)).items():
        for count in _empty(client, held, name):
            done += count
            if progress is not None:
                progress(done)
        forget_cursors(client, held.target(name, space))
        forget_failures(client, held.uuid, name)
    change_meta(client, held.name, meta_done)
    return vectors


def _empty(client: OpenSearch, held: Held, field: str) -> Iterator[int]:
    """Take one field and its marks out of the documents; how many at a time."""
    marked = [{"exists": {"field": path}} for path in (field, space_path(field))]
    query = {"bool": {"should": marked, "minimum_should_match": 1}}
    params = {"field": field, "path": field.split(".")}
    yield from take_out(client, held.name, query, _SCRIPT, params)
