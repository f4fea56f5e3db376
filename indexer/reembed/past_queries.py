"""Past queries in two spaces: the click leg finds similar ones on both sides of a switch.

Their index has a second vector field as well, of which searches choose the one of their encoder's space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Space, has_spaces, meta_serving
from trifuse.indexer.embedded import QUERIES_PREFIX, EmbeddedField
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.meta import change_meta
from trifuse.indexer.progress import Tell
from trifuse.indexer.reembed.fields import Held, add_field, drop_field, read_index
from trifuse.indexer.scan import scan
from trifuse.indexer.sync import sync_field


def prepare_past_queries(client: OpenSearch, held: Held, encoder: EncoderSpace) -> None:
    """Give the past queries of an index a field for vectors of another encoder, where they lack it."""
    for queries in _past_queries_of(client, held):
        stage = queries.stage
        if stage.step == "dropping":
            drop_field(client, queries)
            queries = read_index(client, queries.name)
            stage = queries.stage
        wanted = Space(encoder, stage.space.template)
        if stage.step == "none" and wanted.id != stage.space.id:
            add_field(client, queries, wanted)


def fill_past_queries(
    client: OpenSearch,
    held: Held,
    enqueue: Enqueue,
    patience: Patience,
    listening: Callable[[Space], bool] | None,
    progress: Tell | None,
) -> str:
    """Have the second field filled, and wait for it; why that stalled, or ""."""
    for target in _new_fields(client, held):
        seen = sync_field(client, target, enqueue, patience, listening, progress)
        if seen.stalled:
            return seen.stalled
    return ""


def require_filled(client: OpenSearch, held: Held, name: str) -> None:
    """Refuse a switch after which the click leg would find no similar queries.

    Raises:
        ReembedRefused: past queries wait for their vector.
    """
    for target in _new_fields(client, held):
        require_none_pending(client, target, name)


def require_none_pending(client: OpenSearch, target: EmbeddedField, name: str) -> None:
    """Refuse a switch to a field that lacks vectors.

    Raises:
        ReembedRefused: documents wait for theirs.
    """
    if pending := sum(1 for _ in scan(client, target)):
        encoder = target.space.encoder.encoder
        raise ReembedRefused(
            f"{pending:,} documents of {target.index!r} wait for their vector of {encoder!r}: fill them "
            f"first with `trifuse reembed {name} --encoder {encoder}`, which switches when all have it"
        )


def settle_past_queries(client: OpenSearch, held: Held, keep: EncoderSpace) -> bool:
    """Take the field of the other encoder out of the past queries; whether there was one."""
    settled = False
    for queries in _past_queries_of(client, held):
        stage = queries.stage
        if stage.step == "none" or stage.other is None or stage.other_space is None:
            continue
        if stage.step != "dropping" and stage.other_space.encoder.id == keep.id:
            change_meta(client, queries.name, partial(meta_serving, field=stage.other))
            queries = read_index(client, queries.name)
        drop_field(client, queries)
        settled = True
    return settled


def _past_queries_of(client: OpenSearch, held: Held) -> Iterator[Held]:
    """The indexes of past queries that belong to an index by any of its names, and have vectors."""
    for name in (held.name, *sorted(held.aliases)):
        queries = f"{QUERIES_PREFIX}{name}"
        if client.indices.exists(index=queries):
            found = read_index(client, queries)
            if has_spaces(found.meta):
                yield found


def _new_fields(client: OpenSearch, held: Held) -> Iterator[EmbeddedField]:
    for queries in _past_queries_of(client, held):
        stage = queries.stage
        if stage.step == "filling" and stage.other is not None and stage.other_space is not None:
            yield queries.target(stage.other, stage.other_space)
