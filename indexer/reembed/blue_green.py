"""Embed an alias anew: in a copy of its index, to which the alias moves when that is complete."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space, next_field, spaces_in_meta
from trifuse.indexer import copying
from trifuse.indexer.copying import Copy
from trifuse.indexer.copying.complete import complete
from trifuse.indexer.copying.copies import all_copies
from trifuse.indexer.errors import IndexMissing, ReembedRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.meta import change_meta
from trifuse.indexer.progress import Tell
from trifuse.indexer.reembed.fields import read_index
from trifuse.indexer.reembed.filled import Filled, named_failures
from trifuse.indexer.reembed.parts import add_parts
from trifuse.indexer.reembed.past_queries import (
    fill_past_queries,
    prepare_past_queries,
    settle_past_queries,
)
from trifuse.indexer.reembed.stage import Next, decide
from trifuse.indexer.reembed.texts import wanted_template


def open_copy(client: OpenSearch, name: str) -> Copy | None:
    """The newest copy that isn't abandoned or finished, of what a name stands for."""
    return next(iter(reversed(all_copies(client, name))), None)


def begin_copy(
    client: OpenSearch,
    alias: str,
    encoder: EncoderSpace,
    *,
    text: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
) -> Next:
    """Make a copy for another encoder, or find that nothing or only a query tower is to be changed.

    Args:
        text, parts: as `begin_field` takes them.

    Raises:
        ReembedRefused: it is on its way to another space.
        CopyRefused: the index can't be copied.
    """
    held, copy = read_index(client, alias), open_copy(client, alias)
    stage, filling = held.stage, copy is not None and copy.standing.phase != "switched"
    present = (copy.space if copy is not None and filling else stage.space).template
    wanted = Space(encoder, wanted_template(held, present, encoder, text=text, parts=parts))
    if copy is not None:
        if wanted.id == copy.space.id:
            if filling:
                add_parts(client, held, copy.index, copy.field, copy.space)
            return "resume" if filling else "switched"
        way = "--abandon" if filling else "--finish` or `--rollback"
        raise ReembedRefused(
            f"{alias!r} has a copy with vectors by {copy.space.encoder.encoder!r} of "
            f"{','.join(copy.space.template.fields)}, {'unfinished' if filling else 'with a way back'}: "
            f"end that first, with `trifuse reembed {alias} {way}`; then use {encoder.encoder!r}"
        )
    what = decide(stage, wanted)
    if what == "tower":
        change_meta(client, held.name, lambda meta: meta_with_space(meta, stage.serving, wanted))
    if what == "begin":
        copy = copying.begin(
            client,
            held.name,
            alias=alias,
            space_field=(next_field(held.properties, VECTOR_FIELD), wanted),
            drop_fields=spaces_in_meta(held.meta),
        )
        add_parts(client, held, copy.index, copy.field, copy.space)
    return what


def fill_copy(
    client: OpenSearch,
    name: str,
    copy: Copy,
    enqueue: Enqueue,
    *,
    patience: Patience,
    listening: Callable[[Space], bool] | None,
    progress: Tell | None,
    switch: bool,
) -> Filled:
    """Fill the copy, and the past queries' vectors of the new encoder, and switch where that is asked for."""
    held = read_index(client, name)
    prepare_past_queries(client, held, copy.space.encoder)
    stalled = fill_past_queries(client, held, enqueue, patience, listening, progress)
    report = complete(
        client,
        copy,
        enqueue,
        patience=patience,
        listening=listening,
        progress=progress,
        switch=switch and not stalled,
    )
    target = read_index(client, copy.index).target(copy.field, copy.space)
    return Filled(
        pending=report.pending,
        embedded=report.embedded,
        skipped=report.skipped,
        failed=report.failed,
        failures=named_failures(client, target) if report.failed else (),
        stalled=stalled or "; ".join(report.faults),
        switched=report.switched,
    )


def abandon_copy(client: OpenSearch, copy: Copy) -> int:
    """Delete the copy, and the past queries' vectors of its space."""
    copying.abandon(client, copy.index)
    with contextlib.suppress(IndexMissing):  # its owner has deleted it
        held = read_index(client, copy.source)
        settle_past_queries(client, held, held.stage.space.encoder)
    return 0


def finish_copy(client: OpenSearch, copy: Copy) -> int:
    """Delete the index that the copy has taken the place of, and the past queries' vectors of its space."""
    copying.finish(client, copy.index)
    held = read_index(client, copy.index)
    settle_past_queries(client, held, held.stage.space.encoder)
    return 0
