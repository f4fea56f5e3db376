"""What became of the documents of a new space."""

from __future__ import annotations

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.failures import Failure, failure_pages

_NAMED = 10


class Filled(msgspec.Struct, frozen=True):
    """The new field's documents: each is one of the four; as `trifuse sync` counts them.

    Args:
        failures: some of what failed, each as `id: reason`.
        stalled: why what is pending won't move by itself; "" where nothing is known to be in the way.
        switched: whether queries go by them now.
    """

    pending: int
    embedded: int
    skipped: int
    failed: int
    failures: tuple[str, ...] = ()
    stalled: str = ""
    switched: bool = False


def named_failures(client: OpenSearch, target: EmbeddedField) -> tuple[str, ...]:
    """The first failures of a vector field, each with its reason."""
    found: list[Failure] = next(failure_pages(client, target), [])
    return tuple(f"{item.doc_id}: {item.reason}" for item in found[:_NAMED])
