"""Embed an index anew in place: a second vector field beside the one that queries go by, until the switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Space, meta_serving, meta_with_space
from trifuse.indexer.counts import Counts, count_field
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.failures import FAILED_INDEX, Failure, failure_pages
from trifuse.indexer.follow import Followed, Patience, follow
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.reembed.fields import Held, add_field, drop_field, past_queries_of, put_meta, read_index
from trifuse.indexer.reembed.stage import Next, Stage, decide
from trifuse.indexer.scan import scan
from trifuse.indexer.state import get_state
from trifuse.indexer.sync import Progress

_NAMED = 10


class Filled(msgspec.Struct, frozen=True):
    """The new field's documents: each is one of the four; as `trifuse sync` counts them.

    Args:
        failures: some of what failed, each as `id: reason`.
        stalled: why what is pending won't move by itself; "" where nothing is known to be in the way.
    """

    pending: int
    embedded: int
    skipped: int
    failed: int
    failures: tuple[str, ...] = ()
    stalled: str = ""


def stage_of(client: OpenSearch, name: str) -> Stage:
    """How far the index behind a name has come.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: it has no vectors, or they can't be read.
    """
    return read_index(client, name).stage


def begin(
    client: OpenSearch,
    name: str,
    encoder: EncoderSpace,
    *,
    text: tuple[str, ...] = (),
    accept_version_bump: bool = False,
) -> Next:
    """Do what another encoder asks for first: add a field for it, or name its query tower, or nothing.

    Args:
        text: the fields that are embedded; without any those that are now.
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
    template = (resumed or stage.space).template
    if text:
        template = replace(template, fields=text)
    wanted = Space(encoder, template)
    what = decide(stage, wanted)
    if what == "begin":
        if not accept_version_bump and get_state(client, "attach", held.uuid) is not None:
            raise ReembedRefused(
                f"each document of {held.index!r} would be written again, which moves its _version and "
                "_seq_no: writers that use external versions or compare-and-set would be refused once. If "
                "none does, say so with --accept-version-bump"
            )
        add_field(client, held, wanted)
    if what == "tower":
        put_meta(client, held, meta_with_space(held.meta, stage.serving, wanted))
    return what


def fill(
    client: OpenSearch,
    name: str,
    enqueue: Enqueue,
    *,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    listening: Callable[[Space], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Filled:
    """Have the new field filled, of the index and of its past queries, and wait for it.

    Raises:
        ReembedRefused: nothing is under way.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    targets = list(_new_targets(client, name))
    seen: list[Followed] = []
    for target in targets:
        pending = _refreshed(client, target).pending

        def tell(now: Followed, target: EmbeddedField = target, pending: int = pending) -> None:
            if progress is not None:
                progress(Progress(target.index, max(pending, now.found), now.done))

        seen.append(follow(client, target, enqueue, patience=patience, listening=listening, progress=tell))
        if seen[-1].stalled:
            break
    counted = _refreshed(client, targets[0])
    embedded = seen[0].embedded
    return Filled(
        pending=counted.pending,
        embedded=embedded,
        skipped=max(0, counted.current + counted.empty - embedded),
        failed=counted.failed,
        failures=_failures(client, targets[0]) if counted.failed else (),
        stalled=next((item.stalled for item in seen if item.stalled), ""),
    )


def switch(client: OpenSearch, name: str) -> Filled:
    """Have queries go by the new field, after a look at every document; failed ones are named.

    Where they do already, nothing changes.

    Raises:
        ReembedRefused: nothing is under way, or documents wait for their vector.
    """
    held = read_index(client, name)
    if held.stage.step == "switched":
        return Filled(0, 0, _refreshed(client, _field_of(held)).documents, 0)
    targets = list(_new_targets(client, name))
    for target in targets:
        pending = sum(1 for _ in scan(client, target))
        if pending:
            raise ReembedRefused(
                f"{pending:,} documents of {target.index!r} wait for their vector of "
                f"{target.space.encoder.encoder!r}: fill them first with `trifuse reembed {name} --encoder "
                f"{target.space.encoder.encoder}`, which switches when all have it"
            )
    target = targets[0]
    counted = _refreshed(client, target)
    failures = _failures(client, target) if counted.failed else ()
    held = read_index(client, name)
    put_meta(client, held, meta_serving(held.meta, target.field))
    return Filled(0, 0, counted.current + counted.empty, counted.failed, failures)


def roll_back(client: OpenSearch, name: str) -> None:
    """Have queries go by the old field again; the new one stays, and is kept up to date as before.

    Raises:
        ReembedRefused: it wasn't switched.
    """
    held = read_index(client, name)
    stage = held.stage
    if stage.step != "switched" or stage.other is None:
        raise ReembedRefused(
            f"queries of {held.index!r} weren't switched to another encoder: there is nothing to go back to"
        )
    put_meta(client, held, meta_serving(held.meta, stage.other))


def abandon(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the new field out again, before the switch; how many documents had a vector in it.

    Raises:
        ReembedRefused: nothing is under way, or queries go by it.
    """
    held = read_index(client, name)
    if held.stage.step not in ("filling", "dropping"):
        raise _nothing(held, "--abandon takes out", "filling")
    return _drop(client, held, progress)


def finish(client: OpenSearch, name: str, *, progress: Callable[[int], None] | None = None) -> int:
    """Take the old field out, after the switch: there is no way back then. How many documents had it.

    Raises:
        ReembedRefused: it wasn't switched.
    """
    held = read_index(client, name)
    if held.stage.step not in ("switched", "dropping"):
        raise _nothing(held, "--finish takes out", "switched")
    return _drop(client, held, progress)


def left_in_old_space(client: OpenSearch, name: str) -> list[tuple[str, str]]:
    """Indexes of sentences that are served by another encoder than the index, each with its encoder's name.

    They have a space of their own, and are embedded anew by their own name.
    """
    held = read_index(client, name)
    linked = held.meta["trifuse"].get("sentences")
    if not linked or not client.indices.exists(index=linked):
        return []
    sentences = stage_of(client, linked)
    if sentences.space.encoder.id == held.stage.space.encoder.id:
        return []
    return [(linked, sentences.space.encoder.encoder)]


def _drop(client: OpenSearch, held: Held, progress: Callable[[int], None] | None = None) -> int:
    """Take a field out of the index; first out of its past queries, which are found by what it says."""
    stage = held.stage
    space = stage.other_space
    for queries in past_queries_of(client, held):
        known = queries.stage
        if known.step == "none" or space is None:
            continue
        if known.step != "dropping" and known.space.encoder.id == space.encoder.id:
            put_meta(client, queries, meta_serving(queries.meta, str(known.other)))
            queries = read_index(client, queries.index)
        drop_field(client, queries)
    return drop_field(client, held, progress=progress)


def _prepare_past_queries(client: OpenSearch, held: Held, encoder: EncoderSpace) -> None:
    """Give past queries a field for vectors of the new encoder: the click leg finds them by the space."""
    for queries in past_queries_of(client, held):
        stage = queries.stage
        wanted = Space(encoder, stage.space.template)
        if stage.step == "dropping":
            drop_field(client, queries)
            queries = read_index(client, queries.index)
        if wanted.id not in (stage.space.id, stage.other_space.id if stage.other_space else ""):
            add_field(client, queries, wanted)


def _new_targets(client: OpenSearch, name: str) -> Iterator[EmbeddedField]:
    """The fields that are being filled: of the index first, then of its past queries."""
    held = read_index(client, name)
    if held.stage.step != "filling":
        raise _nothing(held, "there is a switch to", "filling")
    new = _field_of(held)
    yield new
    _prepare_past_queries(client, held, new.space.encoder)
    for queries in past_queries_of(client, held):
        if queries.stage.step == "filling":
            yield _field_of(queries)


def _field_of(held: Held) -> EmbeddedField:
    """The second field; the served one where there is no other."""
    stage = held.stage
    return held.target(stage.other or stage.serving, stage.other_space or stage.space)


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
    return ReembedRefused(f"{what} {needed}; in {held.index!r} {found}")


def _refreshed(client: OpenSearch, target: EmbeddedField) -> Counts:
    client.indices.refresh(index=f"{target.index},{FAILED_INDEX}", params={"ignore_unavailable": "true"})
    return count_field(client, target)


def _failures(client: OpenSearch, target: EmbeddedField) -> tuple[str, ...]:
    """The first failures, each with its reason."""
    found: list[Failure] = next(failure_pages(client, target), [])
    return tuple(f"{item.doc_id}: {item.reason}" for item in found[:_NAMED])
