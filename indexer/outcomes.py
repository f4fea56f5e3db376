"""What became of bulk actions, read from OpenSearch's answers. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trifuse.indexer.actions import Action, Line
from trifuse.indexer.errors import IndexBlocked
from trifuse.indexer.retry import RETRYABLE

FILTER_PATH = ",".join(
    f"items.*.{field}"
    for field in ("_id", "_index", "status", "result", "error", "_version", "_seq_no", "_primary_term")
)
"""The parts of an answer that are read here."""


class ItemOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one action.

    Args:
        position: the action's place in the stream, from 0.
        status: OpenSearch's status for it. What wasn't sent has 413 where it was too large, 400 where it
            can't be written as JSON.
        result: `created`, `updated`, `noop` (an update that changed nothing), `deleted`, `not_found`;
            "" where it failed.
        error, reason: OpenSearch's error type, and its reason with the deepest cause; "" where it went well.
        attempts: how often it was sent.
    """

    position: int
    action: Action
    status: int
    result: str = ""
    error: str = ""
    reason: str = ""
    version: int | None = None
    seq_no: int | None = None
    primary_term: int | None = None
    attempts: int = 0

    @property
    def ok(self) -> bool:
        """Whether the document is now as asked; deleting what isn't there is well."""
        return self.status < 300 or self.result == "not_found"

    @property
    def blocked(self) -> bool:
        """Whether the whole index takes no writes: read-only, or its disk is full."""
        return self.error == "cluster_block_exception"

    @property
    def retryable(self) -> bool:
        """Whether it failed for want of room or time, so that trying it later makes sense."""
        return self.status in RETRYABLE


class BulkOutcome(msgspec.Struct, frozen=True):
    """What became of all actions, in their order."""

    items: tuple[ItemOutcome, ...]

    @property
    def failed(self) -> tuple[ItemOutcome, ...]:
        """Those that OpenSearch, or the check before sending, refused."""
        return tuple(item for item in self.items if not item.ok)


def describe(action: Action) -> str:
    """The action's document, for messages."""
    return f"document {action.id!r} of index {action.index!r}"


def answered(line: Line, answer: Mapping[str, Any], attempts: int) -> ItemOutcome:
    """The outcome that an item of a bulk answer tells of."""
    error = answer.get("error") or {}
    # `not_found` stands both for a delete, which is well, and for an update, which comes with an error.
    return ItemOutcome(
        position=line.position,
        action=line.action,
        status=answer["status"],
        result="" if error else answer.get("result", ""),
        error=error.get("type", ""),
        reason=_reason(error),
        version=answer.get("_version"),
        seq_no=answer.get("_seq_no"),
        primary_term=answer.get("_primary_term"),
        attempts=attempts,
    )


def _reason(error: Mapping[str, Any]) -> str:
    """The reason and the deepest cause: `failed to parse field [x]` alone doesn't say why."""
    reasons: list[str] = []
    cause: Mapping[str, Any] | None = error
    while cause:
        if cause.get("reason"):
            reasons.append(cause["reason"])
        cause = cause.get("caused_by")
    return ": ".join(dict.fromkeys(reasons[:1] + reasons[-1:]))


def unsendable(position: int, action: Action, why: str) -> ItemOutcome:
    """The outcome of an action that can't be written as JSON."""
    return ItemOutcome(
        position=position,
        action=action,
        status=400,
        error="unsendable",
        reason=f"{describe(action)}: {why}",
    )


def too_large(line: Line, limit: int) -> ItemOutcome:
    """The outcome of an action that no request to the server can hold."""
    return ItemOutcome(
        position=line.position,
        action=line.action,
        status=413,
        error="too_large",
        reason=(
            f"{describe(line.action)} takes {len(line.data)} bytes, more than fits into a request: "
            f"OpenSearch takes {limit} bytes (http.max_content_length); shorten it, or raise the limit"
        ),
    )


def require_unblocked(item: ItemOutcome) -> None:
    """Raises IndexBlocked where no other document could be written either."""
    if item.blocked:
        raise IndexBlocked(
            f"the index {item.action.index!r} takes no writes ({item.reason.rstrip('; ')}): free disk if "
            "that is the reason, take the block off (index.blocks.* in its settings), then do the same again"
        )
