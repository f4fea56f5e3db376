"""Sending live events to the workers.

record_clicks(app, "trials", [ClickEvent(query="asthma", doc_id="NCT00000001", position=3)])
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from trifuse.worker.clicks.errors import ClicksUndelivered
from trifuse.worker.clicks.events import ClickEvent

if TYPE_CHECKING:
    from celery import Celery

TASK = "trifuse.clicks"
QUEUE = "trifuse"
"""The workers' default queue."""

EVENTS_A_MESSAGE = 200


def record_clicks(app: Celery, index: str, events: Iterable[ClickEvent]) -> None:
    """Send live events of a search index to the workers; they count within seconds.

    An event without an id or a time gets them here, so that a message that is delivered twice counts once.

    Args:
        app: `trifuse.worker.app.app`, or any Celery app with the same broker.

    Raises:
        ClicksUndelivered: the broker can't be reached.
    """
    ready = [msgspec.to_builtins(_stamped(event)) for event in events]
    try:
        with app.producer_pool.acquire(block=True, timeout=10) as producer:
            for start in range(0, len(ready), EVENTS_A_MESSAGE):
                app.send_task(
                    TASK,
                    kwargs={"index": index, "events": ready[start : start + EVENTS_A_MESSAGE]},
                    queue=QUEUE,
                    producer=producer,
                    ignore_result=True,
                    retry=False,
                )
    except (KombuError, RedisError, OSError) as error:
        raise ClicksUndelivered(
            f"{len(ready)} click events of {index!r} weren't sent, or not all: the broker at "
            f"{app.connection_for_write().as_uri()} can't be reached ({error}); send the same events again "
            "when it is well, each with an event_id: those that arrived are counted once"
        ) from error


def _stamped(event: ClickEvent) -> ClickEvent:
    by_search = event.kind == "impression" and event.query_id is not None and event.doc_id is None
    event_id = event.event_id or (None if by_search else uuid.uuid4().hex)
    when = round(time.time(), 3) if event.timestamp is None else event.timestamp
    return msgspec.structs.replace(event, event_id=event_id, timestamp=when)
