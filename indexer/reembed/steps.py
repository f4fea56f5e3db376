"""The steps to another encoder, in place or by a copy: which of both it is stands in the index.

An alias is embedded anew by a copy of its index, unless that is to be done in place; an index in place.
"""

from __future__ import annotations

from collections.abc import Callable

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer import copying
from trifuse.indexer.errors import IndexNotOurs, ReembedRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.progress import Tell
from trifuse.indexer.reembed.blue_green import (
    abandon_copy,
    begin_copy,
    fill_copy,
    finish_copy,
    open_copy,
)
from trifuse.indexer.reembed.fields import read_index
from trifuse.indexer.reembed.filled import Filled
from trifuse.indexer.reembed.in_place import (
    abandon_field,
    begin_field,
    fill_field,
    finish_field,
    roll_back_field,
    switch_field,
)
from trifuse.indexer.reembed.stage import Next


def begin(
    client: OpenSearch,
    name: str,
    encoder: EncoderSpace,
    *,
    text: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
    in_place: bool = False,
    accept_version_bump: bool = False,
) -> Next:
    """Do what another encoder asks for first: make a place for its vectors, name its query tower, or nothing.

    Args:
        text: the fields that are embedded; without any those that are now.
        parts: for an encoder of parts, the part of each of these fields.
        in_place: a second field also where the name is an alias.
        accept_version_bump: in place, `_version` and `_seq_no` of an owner's documents may move.

    Returns:
        What was found to be done: after `begin` and `resume` the new vectors are to be filled.

    Raises:
        ReembedRefused: it is on its way to another space; or an owner's versions would move unasked.
        CopyRefused: the index can't be copied.
        IndexMissing, IndexNotOurs, SpaceMismatch: it has no vectors, or they can't be read.
    """
    held, copy = read_index(client, name), open_copy(client, name)
    by_copy = name != held.name and not in_place and held.stage.step == "none"
    if copy is not None and not by_copy:
        raise ReembedRefused(
            f"{held.name!r} has a copy {copy.index!r}: go on by the alias, `trifuse reembed {copy.alias}`, "
            "without --in-place"
        )
    if by_copy:
        return begin_copy(client, name, encoder, text=text, parts=parts)
    return begin_field(client, name, encoder, text=text, parts=parts, accept_version_bump=accept_version_bump)


def fill(
    client: OpenSearch,
    name: str,
    enqueue: Enqueue,
    *,
    switch: bool = False,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    listening: Callable[[Space], bool] | None = None,
    progress: Tell | None = None,
) -> Filled:
    """Have the new vectors filled, of the index and of its past queries, and wait for it.

    Args:
        switch: have queries go by them as soon as all are there.

    Raises:
        ReembedRefused: nothing is under way.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    copy = open_copy(client, name)
    if copy is None:
        return fill_field(
            client,
            name,
            enqueue,
            patience=patience,
            listening=listening,
            progress=progress,
            switch=switch,
        )
    return fill_copy(
        client,
        name,
        copy,
        enqueue,
        patience=patience,
        listening=listening,
        progress=progress,
        switch=switch,
    )


def switch(
    client: OpenSearch,
    name: str,
    enqueue: Enqueue,
    *,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    listening: Callable[[Space], bool] | None = None,
    progress: Tell | None = None,
) -> Filled:
    """Have queries go by the new vectors, after a check that all are there; failed documents are named.

    A copy is brought up to date before: its owner may have written to the old index since it was filled.
    Where queries go by the new ones already, nothing changes.

    Raises:
        ReembedRefused, CopyRefused: nothing is under way, or documents wait for their vector.
    """
    copy = open_copy(client, name)
    if copy is None:
        return switch_field(client, name)
    if copy.standing.phase == "switched":
        return Filled(0, 0, 0, 0, switched=True)
    return fill(client, name, enqueue, switch=True, patience=patience, listening=listening, progress=progress)


def roll_back(client: OpenSearch, name: str) -> None:
    """Have queries go by the old vectors again; the new ones stay, and are kept up to date as before.

    Raises:
        ReembedRefused, CopyRefused: it wasn't switched.
    """
    copy = open_copy(client, name)
    if copy is None:
        roll_back_field(client, name)
        return
    try:
        _ = read_index(client, copy.source).stage
    except IndexNotOurs as error:
        raise ReembedRefused(
            f"{copy.source!r} has no old vectors to go back to: attaching has made its copy; `trifuse detach "
            f"{copy.alias}` leads back to it"
        ) from error
    copying.roll_back(client, copy.index)


def abandon(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the new vectors out again, before the switch; of how many documents. A copy is deleted.

    Raises:
        ReembedRefused, CopyRefused: nothing is under way, or queries go by it.
    """
    copy = open_copy(client, name)
    return abandon_field(client, name, progress=progress) if copy is None else abandon_copy(client, copy)


def finish(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the old vectors out, after the switch: there is no way back then. The old index is deleted.

    Raises:
        ReembedRefused, CopyRefused: it wasn't switched.
    """
    copy = open_copy(client, name)
    return finish_field(client, name, progress=progress) if copy is None else finish_copy(client, copy)
