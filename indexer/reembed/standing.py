"""How far the index behind a name has come, in place or by a copy, and what it is to be compared with."""

from __future__ import annotations

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.counts import count_refreshed
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.reembed.blue_green import open_copy
from trifuse.indexer.reembed.fields import read_index
from trifuse.indexer.reembed.parts import PartVectors, parted
from trifuse.indexer.reembed.stage import Stage


def stage_of(client: OpenSearch, name: str) -> Stage:
    """How far the index behind a name has come.

    Where a copy is on its way, `other` is its field; after the switch there is none in the index.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: it has no vectors, or they can't be read.
    """
    stage, copy = read_index(client, name).stage, open_copy(client, name)
    if copy is None:
        return stage
    if copy.standing.phase == "switched":
        return msgspec.structs.replace(stage, step="switched")
    return msgspec.structs.replace(stage, step="filling", other=copy.field, other_space=copy.space)


def part_vectors(client: OpenSearch, name: str) -> PartVectors:
    """What becomes of an index's vectors of parts; nothing where none is on its way to another space.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `stage_of`.
    """
    stage = stage_of(client, name)
    if stage.step != "filling" or stage.other_space is None:
        return PartVectors()
    return parted(read_index(client, name), stage.other_space)


class Candidate(msgspec.Struct, frozen=True):
    """The vectors that are being prepared.

    Args:
        index, field: where they are.
        encoder: the name of theirs.
        pending: documents that lack theirs.
    """

    index: str
    field: str
    encoder: str
    pending: int


def candidate_of(client: OpenSearch, name: str) -> Candidate:
    """What is to be switched to, for a comparison with what is served.

    Raises:
        ReembedRefused: nothing is under way.
    """
    stage, copy = stage_of(client, name), open_copy(client, name)
    if stage.step == "switched":
        raise ReembedRefused(
            f"queries of {name!r} go by the new vectors already: `trifuse reembed {name} --rollback`, then "
            "compare, and switch again"
        )
    if stage.step != "filling" or stage.other is None or stage.other_space is None:
        raise ReembedRefused(
            f"{name!r} isn't being embedded anew, so that there is nothing to compare with: begin with "
            f"`trifuse reembed {name} --encoder NAME --no-switch`"
        )
    index = name if copy is None else copy.index
    target = read_index(client, index).target(stage.other, stage.other_space)
    pending = count_refreshed(client, target).pending
    return Candidate(index, stage.other, stage.other_space.encoder.encoder, pending)
