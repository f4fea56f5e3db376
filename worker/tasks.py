"""The tasks that come through Celery: thin, so that what they do can be called without it."""

from __future__ import annotations

import logging
import random
from typing import Any

import msgspec
from celery import shared_task
from opensearchpy.exceptions import TransportError

from trifuse.encoder.errors import EncodingFailed, SpaceMismatch
from trifuse.indexer.errors import IndexMissing, IndexNotOurs, ServerUnavailable
from trifuse.indexer.hints import Hint
from trifuse.indexer.retry import worth_retrying
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import EMBED_TASK

logger = logging.getLogger(__name__)

MAX_RETRIES = 8


@shared_task(bind=True, name=EMBED_TASK, max_retries=MAX_RETRIES, ignore_result=True)  # type: ignore[untyped-decorator]
def embed_task(self: Any, index: str, field: str, ids: list[Any]) -> None:
    """Embed documents of an index; what is already as it should be is left alone.

    Args:
        index: a concrete index.
        field: its vector field.
        ids: `[id, routing or null]` each.
    """
    if not ids:
        return
    resources = self.app.resources
    hints = msgspec.convert(ids, list[Hint])
    metrics = resources.metrics()
    metrics.add(tasks=1)
    try:
        report = embed(resources.client(), resources.encoder(), index, field, hints)
    except (SpaceMismatch, IndexMissing, IndexNotOurs) as error:
        # Nothing to try again: whatever is pending, and can be embedded, is queued by the next sync.
        logger.error("dropped %d hints: %s", len(ids), error)
        return
    except (EncodingFailed, ServerUnavailable, TransportError) as error:
        if not is_transient(error):
            raise
        metrics.add(retried=1)
        raise self.retry(exc=error, countdown=pause_s(self.request.retries)) from error
    metrics.add(embedded=report.embedded, failed=report.failed)
    if report.unfinished:
        metrics.add(retried=1)
        raise self.retry(
            kwargs={"index": index, "field": field, "ids": list(report.unfinished)},
            countdown=pause_s(self.request.retries),
        )


def is_transient(error: Exception) -> bool:
    """Whether the same may go well later: no connection, a server or a device with no room or time for it."""
    return isinstance(error, EncodingFailed | ServerUnavailable) or (
        isinstance(error, TransportError) and worth_retrying(error)
    )


def pause_s(retries: int) -> float:
    """Seconds before the next try: 1, 2, 4 ... 60, each cut by up to half at random.

    >>> 30 <= pause_s(20) <= 60
    True
    """
    return float(min(60.0, 2.0**retries) * random.uniform(0.5, 1.0))  # noqa: S311
