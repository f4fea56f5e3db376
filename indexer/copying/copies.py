"""Copies: which there are, and how far each has come.

The copy's own `_meta` says what it is a copy of, from the moment that it exists. Where it stands is kept in
the state index under its UUID: its phase, and apart from that how far it was filled, so that a process that
fills it can't undo what another one switched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.ours import ours_in
from trifuse.encoder.spaces import Space, part_fields, spaces_in_meta
from trifuse.indexer.behind import Index, index_of, indexes_behind
from trifuse.indexer.errors import CopyRefused, CopyTaken
from trifuse.indexer.state import delete_state, get_state, put_state

KIND = "copy"
_CURSOR = "cursor"

Phase = Literal["filling", "switching", "switched", "returning"]


class Rejected(msgspec.Struct, frozen=True):
    """A document of the source that the copy doesn't take.

    Args:
        id, routing: the document.
        shard, seq_no: where its version stands in the source.
        reason: why it isn't taken.
    """

    id: str
    routing: str | None
    shard: int
    seq_no: int
    reason: str


class Reached(msgspec.Struct, frozen=True):
    """How far a copy was filled.

    Args:
        shards: number of the source's shard to its history's id and the last `_seq_no` that was copied.
        rejected: documents among them that the copy doesn't take.
        mapping: a hash of the source's mapping as the copy has it.
        filled: whether a pass came to its end since the copy was begun.
        era: how often the source was found with another history: put back from a snapshot.
    """

    shards: Mapping[str, tuple[str, int]] = {}
    rejected: tuple[Rejected, ...] = ()
    mapping: str = ""
    filled: bool = False
    era: int = 0


class Standing(msgspec.Struct, frozen=True):
    """Where a copy stands.

    Args:
        phase: `filling`; `switching` and `returning` until the alias has moved there, and back; `switched`.
        door: the number of the alias that the copy is filled through.
        blocked: whether the source was write-blocked by somebody else before the switch.
        switched_at: the copy's own shards when it was switched to: history and `_seq_no`, by number.
        at: when switching, or the way back, was begun, in seconds since 1970.
    """

    phase: Phase = "filling"
    door: int = 1
    blocked: bool = False
    switched_at: Mapping[str, tuple[str, int]] = {}
    at: float = 0.0


class Copy(msgspec.Struct, frozen=True):
    """One copy of one index.

    Args:
        index, uuid: the copy.
        source, source_uuid: the index that it is a copy of.
        alias: the alias that is switched from the one to the other.
        field, space: the vector field that it was made for.
        parts: the fields of its parts' own vectors.
        drop: vector fields of the source that it lacks.
        standing: where it stood when it was read.
    """

    index: str
    uuid: str
    source: str
    source_uuid: str
    alias: str
    field: str
    space: Space
    parts: tuple[str, ...]
    drop: tuple[str, ...]
    standing: Standing

    @property
    def own(self) -> tuple[str, ...]:
        """The vector fields that the source doesn't have."""
        return (self.field, *self.parts)

    @property
    def door(self) -> str:
        """The alias that the copy is filled through; who switches puts another in its place."""
        return door_name(self.index, self.standing.door)


def door_name(index: str, number: int) -> str:
    """The alias that a copy is filled through."""
    return f"{index}-door-{number}"


def doors_among(index: str, names: Iterable[str]) -> list[str]:
    """Those of some aliases that a copy is or was filled through."""
    return [name for name in names if name.startswith(f"{index}-door-")]


def base_name(source: str) -> str:
    """What the names of an index's copies start with.

    >>> base_name("trials-trifuse-2")
    'trials'
    """
    base, _, number = source.rpartition("-trifuse-")
    return base if base and number.isdigit() else source


def all_copies(client: OpenSearch, name: str) -> list[Copy]:
    """The copies that the index is or has, in every phase, newest last; of all indexes behind an alias.

    Raises:
        IndexMissing: there is no such index or alias.
    """
    return _near(client, indexes_behind(client, name))


def copies_of(client: OpenSearch, index: str) -> list[Copy]:
    """The unfinished copies whose source is this index, or behind this alias: those to keep in step.

    Raises:
        IndexMissing: there is no such index or alias.
    """
    behind = indexes_behind(client, index)
    uuids = {found.uuid for found in behind}
    return [
        copy
        for copy in _near(client, behind)
        if copy.standing.phase == "filling" and copy.source_uuid in uuids
    ]


def _near(client: OpenSearch, indexes: Sequence[Index]) -> list[Copy]:
    """The copies that these indexes are or have."""
    uuids = {index.uuid for index in indexes}
    patterns = ",".join(sorted({f"{base_name(index.name)}-trifuse-*" for index in indexes}))
    near: dict[str, Any] = client.indices.get(index=patterns, params={"expand_wildcards": "all"})
    found = [copy for name, entry in near.items() if (copy := _copy(client, index_of(name, entry)))]
    related = [copy for copy in found if uuids & {copy.uuid, copy.source_uuid}]
    return sorted(related, key=lambda copy: (len(copy.index), copy.index))


def find_copy(client: OpenSearch, name: str, *phases: Phase) -> Copy:
    """The newest copy that a name means: of its alias, of its source, or the copy itself.

    Args:
        phases: those that are looked for first.

    Raises:
        IndexMissing: there is no such index or alias.
        CopyRefused: it has no copy.
    """
    found = all_copies(client, name)
    if not found:
        raise CopyRefused(
            f"{name!r} has no copy: `trifuse attach {name} --copy` or `trifuse reembed {name}` make one"
        )
    wanted = [copy for copy in found if copy.standing.phase in phases]
    return (wanted or found)[-1]


def taken(copy: Copy) -> CopyTaken:
    """The error to raise where the copy is another's to write to now."""
    return CopyTaken(f"another process is switching to the copy {copy.index!r}: look again soon")


def again(client: OpenSearch, copy: Copy) -> Copy:
    """The copy as it stands now."""
    return msgspec.structs.replace(copy, standing=_standing(client, copy.uuid))


def keep_standing(client: OpenSearch, copy: Copy, standing: Standing) -> Copy:
    """Keep where the copy stands now; the copy so."""
    put_state(client, KIND, copy.uuid, msgspec.to_builtins(standing), index=copy.index)
    return msgspec.structs.replace(copy, standing=standing)


def read_reached(client: OpenSearch, copy: Copy) -> Reached:
    """How far it was filled; not at all if nothing was kept."""
    kept = get_state(client, _CURSOR, f"{KIND}:{copy.uuid}")
    return Reached() if kept is None else msgspec.convert(kept, Reached)


def keep_reached(client: OpenSearch, copy: Copy, reached: Reached) -> None:
    """Keep how far it was filled."""
    put_state(client, _CURSOR, f"{KIND}:{copy.uuid}", msgspec.to_builtins(reached), index=copy.index)


def forget_copy(client: OpenSearch, copy: Copy) -> None:
    """Forget what was kept of it."""
    delete_state(client, KIND, copy.uuid)
    delete_state(client, _CURSOR, f"{KIND}:{copy.uuid}")


def _standing(client: OpenSearch, uuid: str) -> Standing:
    kept = get_state(client, KIND, uuid)
    return Standing() if kept is None else msgspec.convert(kept, Standing)


def _copy(client: OpenSearch, index: Index) -> Copy | None:
    of = ours_in(index.meta).get("copy")
    if not of:
        return None
    return Copy(
        index=index.name,
        uuid=index.uuid,
        source=of["source"],
        source_uuid=of["uuid"],
        alias=of["alias"],
        field=of["field"],
        space=spaces_in_meta(index.meta)[of["field"]],
        parts=tuple(part_fields(index.meta, of["field"]).values()),
        drop=tuple(filter(None, of["drop"].split(","))),
        standing=_standing(client, index.uuid),
    )
