"""Celery's side of the click log: the task that takes live events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celery import shared_task
from opensearchpy.exceptions import TransportError
from redis import Redis

from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.retry import worth_retrying
from trifuse.worker.clicks import plain
from trifuse.worker.clicks.errors import ClickStoreDown
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.produce import TASK
from trifuse.worker.enqueue import celery_enqueue

_REDIS_TIMEOUT_S = 10.0


@shared_task(  # type: ignore[untyped-decorator]
    bind=True,
    name=TASK,
    ignore_result=True,
    acks_late=True,
    autoretry_for=(ServerUnavailable, ClickStoreDown),
    max_retries=20,
    retry_backoff=2,
    retry_backoff_max=300,
)
def take_clicks(self: Any, index: str, events: Sequence[Any]) -> dict[str, Any]:
    """Take live events of a search index; delivered again, they are counted no second time.

    Args:
        events: objects as `trifuse.worker.clicks.plain` describes them, each with an `event_id`.

    Returns:
        the report of the intake.
    """
    try:
        return _take(self.app, index, events)
    except TransportError as error:
        if not worth_retrying(error):
            raise
        raise ServerUnavailable(
            f"the clicks of {index!r} weren't taken: OpenSearch gave {error.status_code}, {error.error}"
        ) from error


def _take(app: Any, index: str, events: Sequence[Any]) -> dict[str, Any]:
    resources = app.resources
    with Redis.from_url(
        resources.settings.redis_url,
        socket_timeout=_REDIS_TIMEOUT_S,
        socket_connect_timeout=_REDIS_TIMEOUT_S,
    ) as redis:
        intake = Intake(
            resources.client(),
            redis,
            index,
            min_visitors=resources.settings.clicks_min_visitors,
            max_a_day=resources.settings.clicks_max_a_day,
            pairs=False,
            enqueue=celery_enqueue(app),
        )
        return intake.take(map(plain.event, events)).as_dict()
