"""Sentences that were left in the old space: they have one of their own, and a name to embed them by."""

from __future__ import annotations

from typing import Literal

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.ours import sentences_in
from trifuse.indexer.reembed.fields import read_index
from trifuse.indexer.reembed.standing import stage_of


class Left(msgspec.Struct, frozen=True):
    """Sentences that are served by another encoder than their index.

    Args:
        index: theirs.
        present, wanted: the names of both encoders.
        step: what leads them to the wanted one: `rollback` where they still have its vectors, else `begin`.
    """

    index: str
    present: str
    wanted: str
    step: Literal["rollback", "begin"]


def left_in_old_space(client: OpenSearch, name: str) -> Left | None:
    """The sentences of an index, where they are served by another encoder.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `stage_of`.
    """
    held = read_index(client, name)
    linked = sentences_in(held.meta)
    if not linked or not client.indices.exists(index=linked):
        return None
    sentences, wanted = stage_of(client, linked), held.stage.space.encoder
    if sentences.space.encoder.id == wanted.id:
        return None
    before = sentences.other_space if sentences.step == "switched" else None
    step: Literal["rollback", "begin"] = "rollback" if before and before.encoder.id == wanted.id else "begin"
    return Left(linked, sentences.space.encoder.encoder, wanted.encoder, step)
