"""Embed an index anew in place: a second vector field beside the one that queries go by, until the switch."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Space, meta_serving, meta_with_space
from trifuse.indexer.attach.apply import KIND as ATTACHED
from trifuse.indexer.counts import count_refreshed
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.meta import change_meta
from trifuse.indexer.progress import Tell
from trifuse.indexer.reembed.fields import Held, add_field, drop_field, read_index
from trifuse.indexer.reembed.filled import Filled, named_failures
from trifuse.indexer.reembed.parts import add_parts, fill_parts
from trifuse.indexer.reembed.past_queries import (
    fill_past_queries,
    prepare_past_queries,
    require_filled,
    require_none_pending,
    settle_past_queries,
)
from trifuse.indexer.reembed.stage import Next, decide
from trifuse.indexer.reembed.texts import wanted_template
from trifuse.indexer.state import get_state
from trifuse.indexer.sync import sync_field

_ROUNDS = 10
"""How often it is filled before an owner who writes all the time is found too fast."""


def begin_field(
    client: OpenSearch,
    name: str,
    encoder: EncoderSpace,
    *,
    text: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
    accept_version_bump: bool = False,
) -> Next:
    """Do what another encoder asks for first: add a field for it, or name its query tower, or nothing.

    Args:
        text: the fields that are embedded; without any those that are now.
        parts: for an encoder of parts, the part of each of these fields.
        accept_version_bump: the index's owner may see `_version` and `_seq_no` of the documents move.

    Returns:
        What was found to be done: after `begin` and `resume` the new field is to be filled.

    Raises:
        ReembedRefused: it is on its way to another space; or an owner's versions would move unasked.
        IndexMissing, IndexNotOurs, SpaceMismatch: it has no vectors, or they can't be read.
    """
    held = read_index(client, name)
    stage = held.stage
    if stage.step == "dropping":
        _drop(client, held)
        held = read_index(client, name)
        stage = held.stage
    resumed = stage.other_space if stage.step == "filling" else None
    present = (resumed or stage.space).template
    wanted = Space(encoder, wanted_template(held, present, encoder, text=text, parts=parts))
    what = decide(stage, wanted)
    if what == "begin":
        if not accept_version_bump and get_state(client, ATTACHED, held.uuid) is not None:
            raise ReembedRefused(
                f"each document of {held.name!r} would be written again, which moves its _version and "
                "_seq_no: writers that use external versions or compare-and-set would be refused once. If "
                "none does, say so with --accept-version-bump"
            )
        add_field(client, held, wanted)
    if what in ("begin", "resume"):
        held = read_index(client, name)
        new = _new_field(held)
        add_parts(client, held, held.name, new.field, new.space)
    if what == "tower":
        change_meta(client, held.name, lambda meta: meta_with_space(meta, stage.serving, wanted))
    return what


def fill_field(
    client: OpenSearch,
    name: str,
    enqueue: Enqueue,
    *,
    patience: Patience,
    listening: Callable[[Space], bool] | None,
    progress: Tell | None,
    switch: bool,
) -> Filled:
    """Have the new field filled, of the index and of its past queries; switch where that is asked for."""
    held = read_index(client, name)
    target = _new_field(held)
    prepare_past_queries(client, held, target.space.encoder)
    how = (enqueue, patience, listening, progress)
    embedded, stalled = 0, ""
    for last in range(_ROUNDS - 1, -1, -1):
        seen = sync_field(client, target, *how)
        embedded += seen.embedded
        stalled = (
            seen.stalled or fill_parts(client, held, target, *how) or fill_past_queries(client, held, *how)
        )
        if stalled or not switch:
            break
        try:
            switched = switch_field(client, name)
        except ReembedRefused:  # the owner has written meanwhile
            if not last:
                raise
        else:
            return msgspec.structs.replace(
                switched, embedded=embedded, skipped=max(0, switched.skipped - embedded)
            )
    counted = count_refreshed(client, target)
    return Filled(
        pending=counted.pending,
        embedded=embedded,
        skipped=max(0, counted.current + counted.empty - embedded),
        failed=counted.failed,
        failures=named_failures(client, target) if counted.failed else (),
        stalled=stalled,
    )


def switch_field(client: OpenSearch, name: str) -> Filled:
    """Have queries go by the new field, after a look at every document; failed ones are named.

    Raises:
        ReembedRefused: nothing is under way, or documents wait for their vector.
    """
    held = read_index(client, name)
    if held.stage.step == "switched":
        return Filled(0, 0, 0, 0, switched=True)
    target = _new_field(held)
    prepare_past_queries(client, held, target.space.encoder)
    require_filled(client, held, name)
    require_none_pending(client, target, name)
    counted = count_refreshed(client, target)
    change_meta(client, held.name, lambda meta: meta_serving(meta, target.field))
    return Filled(
        pending=counted.pending,
        embedded=0,
        skipped=counted.current + counted.empty,
        failed=counted.failed,
        failures=named_failures(client, target) if counted.failed else (),
        switched=True,
    )


def roll_back_field(client: OpenSearch, name: str) -> None:
    """Have queries go by the old field again; the new one stays, and is kept up to date as before.

    Raises:
        ReembedRefused: it wasn't switched.
    """
    held = read_index(client, name)
    stage = held.stage
    if stage.step != "switched" or stage.other is None:
        raise ReembedRefused(
            f"queries of {held.name!r} weren't switched to another encoder: there is nothing to go back to"
        )
    old = stage.other
    change_meta(client, held.name, lambda meta: meta_serving(meta, old))


def abandon_field(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the new field out again, before the switch; how many documents had a vector in it.

    Raises:
        ReembedRefused: nothing is under way, or queries go by it.
    """
    held = read_index(client, name)
    if held.stage.step not in ("filling", "dropping"):
        if _end_interrupted(client, held):
            return 0
        raise _nothing(held, "--abandon takes out", "filling")
    return _drop(client, held, progress)


def finish_field(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the old field out, after the switch: there is no way back then. How many documents had it.

    Raises:
        ReembedRefused: it wasn't switched.
    """
    held = read_index(client, name)
    if held.stage.step not in ("switched", "dropping"):
        if _end_interrupted(client, held):
            return 0
        raise _nothing(held, "--finish takes out", "switched")
    return _drop(client, held, progress)


def _end_interrupted(client: OpenSearch, held: Held) -> bool:
    """Take out of past queries what the end of a copy, interrupted, has left there; whether it has."""
    stage = held.stage
    return stage.step == "none" and settle_past_queries(client, held, stage.space.encoder)


def _drop(client: OpenSearch, held: Held, progress: Callable[[int], None] | None = None) -> int:
    """Take a field out of the index; first out of its past queries, which are found by what it says."""
    settle_past_queries(client, held, held.stage.space.encoder)
    return drop_field(client, held, progress=progress)


def _new_field(held: Held) -> EmbeddedField:
    """The field that is being filled."""
    stage = held.stage
    if stage.step != "filling" or stage.other is None or stage.other_space is None:
        raise _nothing(held, "there is a switch to", "filling")
    return held.target(stage.other, stage.other_space)


def _nothing(held: Held, what: str, expected: str) -> ReembedRefused:
    found = {
        "none": "nothing is under way",
        "filling": "its second field is being filled, and not served",
        "switched": "queries go by the new field already",
        "dropping": "a field is being taken out",
    }[held.stage.step]
    needed = {
        "filling": "a field that is being filled: begin with --encoder",
        "switched": "the old field after a switch: switch first with --switch",
    }[expected]
    return ReembedRefused(f"{what} {needed}; in {held.name!r} {found}")
