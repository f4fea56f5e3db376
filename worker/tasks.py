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
from trifuse.worker.deliveries import GIVE_UP_AT, SPLIT_AT, redelivery
from trifuse.worker.embedding import embed, give_up
from trifuse.worker.enqueue import EMBED_TASK, celery_enqueue, messages_waiting
from trifuse.worker.sweep import SWEEP_TASK, sweep
from trifuse.worker.turns import end_turns, take_turn

logger = logging.getLogger(__name__)

MAX_RETRIES = 8
SWEEP_REST = 3
"""A sweep works a quarter of the time: the rest of a process's time is for embedding."""

_KILLS = "the process that embedded it was killed {} times: too little memory for it?"


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
    metrics, pressure = resources.metrics(), resources.pressure()
    again = redelivery(self.request, resources.settings.redis_url)
    if again >= SPLIT_AT and len(hints) > 1:
        logger.warning("a message of %d documents came again %d times: now one by one", len(hints), again)
        for hint in hints:
            self.apply_async(
                kwargs={"index": index, "field": field, "ids": [hint]},
                queue=self.request.delivery_info["routing_key"],
            )
        return
    metrics.add(tasks=1, paused_s=round(pressure.wait(), 3))
    began = pressure.now()
    try:
        if again >= GIVE_UP_AT:
            logger.error("%s of index %r ended its worker %d times: given up", hints[0][0], index, again)
            metrics.add(failed=give_up(resources.client(), index, field, hints, _KILLS.format(again)))
            return
        report = embed(resources.client(), resources.encoder(), index, field, hints)
    except (SpaceMismatch, IndexMissing, IndexNotOurs) as error:
        # Nothing to try again: whatever is pending, and can be embedded, is queued by the next sync.
        logger.error("dropped %d hints: %s", len(ids), error)
        return
    except (EncodingFailed, ServerUnavailable, TransportError) as error:
        if not is_transient(error):
            raise
        if not isinstance(error, EncodingFailed):
            pressure.note_refusal(began=began)
        metrics.add(retried=1)
        raise self.retry(exc=error, countdown=pause_s(self.request.retries)) from error
    pressure.note(resources.client(), index, began=began, crowded=report.crowded > 0)
    metrics.done(index, field, report.embedded + report.emptied)
    metrics.add(embedded=report.embedded, failed=report.failed)
    if report.unfinished:
        metrics.add(retried=1)
        raise self.retry(
            kwargs={"index": index, "field": field, "ids": list(report.unfinished)},
            countdown=pause_s(self.request.retries),
        )


@shared_task(bind=True, name=SWEEP_TASK, ignore_result=True, acks_late=False)  # type: ignore[untyped-decorator]
def sweep_task(self: Any, names: list[str] | None = None, sweep_id: str | None = None) -> None:
    """Queue what lacks its vector in every index. One that is lost isn't sent again: the next one comes.

    After a slice of time it sends itself the rest, so that what waits meanwhile is embedded. Where an earlier
    sweep is still at it (a copy may take hours to be caught up) nothing is done.

    Args:
        names: the indexes that are left, in the order to take them; None begins a sweep.
        sweep_id: of the sweep that this goes on with.
    """
    redis_url, sweep_id = self.app.resources.settings.redis_url, sweep_id or self.request.id
    if not take_turn(redis_url, sweep_id, begins=names is None):
        logger.info("sweep: another one is under way")
        return
    report = None
    try:
        report = sweep(
            self.app.resources.client(),
            celery_enqueue(self.app),
            lambda queue: messages_waiting(self.app, queue),
            names=names,
        )
    finally:
        if report is None or not report.todo:
            end_turns(redis_url, sweep_id)
    logger.info(
        "sweep: queued %s; left busy %s, failed %s, for later %s",
        report.swept,
        report.busy,
        list(report.failed),
        report.todo,
    )
    if report.todo:
        self.apply_async(
            kwargs={"names": list(report.todo), "sweep_id": sweep_id}, countdown=SWEEP_REST * report.took_s
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
