"""Hints: messages that say which documents may need a vector. Losing one loses time, never a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from trifuse.encoder.spaces import EncoderSpace, Space

Hint = tuple[str, str | None]
"""The id of a document, and its routing."""


def queue_name(space: EncoderSpace) -> str:
    """The queue of the workers that hold this encoder."""
    return f"trifuse.{space.id}"


class Enqueue(Protocol):
    """Queues documents for the workers of a space."""

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
        """Queue documents, any number of them.

        Raises:
            HintsUndelivered: the broker can't be reached.
        """


def needs_vector(marks: Mapping[str, Any] | None, field: str, space: Space, text_hash: str) -> bool:
    """Whether a document with these marks (its object `trifuse`) lacks a vector of that text and space."""
    mark = ((marks or {}).get("fields") or {}).get(field) or {}
    return (mark.get("space"), mark.get("hash")) != (space.id, text_hash)
