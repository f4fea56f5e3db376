"""Hints to the workers: which documents to look at.

A hint may be lost, doubled or dropped: what is pending stands in the index, where `trifuse sync` finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kombu.exceptions import ChannelError, KombuError
from redis.exceptions import RedisError

from trifuse.encoder.spaces import Space
from trifuse.indexer.hints import Enqueue, Hint, queue_name
from trifuse.worker.broker import BAD_URL, unreachable, unusable

if TYPE_CHECKING:
    from celery import Celery
    from kombu.messaging import Producer

logger = logging.getLogger(__name__)

EMBED_TASK = "trifuse.embed"
BATCH = 32
"""Documents in a message: what a killed process does again at most."""

MAX_MESSAGES = 2_000
"""A queue that holds so many gets no more: the rest stays pending in the index, where `sync` finds it."""


def celery_enqueue(app: Celery, *, batch: int = BATCH, max_messages: int = MAX_MESSAGES) -> Enqueue:
    """A function that queues documents for the workers of a space.

    It raises HintsUndelivered, within seconds, where the broker can't be reached.

    Args:
        app: whose broker takes the messages.
        batch: documents in a message.
        max_messages: how long a queue may grow.
    """

    def enqueue(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        queue = queue_name(space.encoder)
        with _producing(app) as producer:
            room = max_messages - _length(producer, queue)
            for start in range(0, len(ids), batch):
                if room <= 0:
                    logger.info("queue %s is full: %d ids stay pending", queue, len(ids) - start)
                    return
                app.send_task(
                    EMBED_TASK,
                    kwargs={"index": index, "field": field, "ids": ids[start : start + batch]},
                    queue=queue,
                    producer=producer,
                    ignore_result=True,
                    retry=False,
                )
                room -= 1

    return enqueue


def messages_waiting(app: Celery, queue: str) -> int:
    """Messages that wait in a queue. Raises HintsUndelivered where the broker can't be reached."""
    with _producing(app) as producer:
        return _length(producer, queue)


@contextmanager
def _producing(app: Celery) -> Iterator[Producer]:
    """A connection to the broker. Raises HintsUndelivered where it can't be reached, or its URL is none."""
    try:
        with app.producer_pool.acquire(block=True, timeout=10) as producer:
            yield producer
    except (KombuError, RedisError, OSError) as error:
        raise unreachable(app.conf.broker_url, error) from error
    except BAD_URL as error:
        raise unusable(app.conf.broker_url, error) from error


def _length(producer: Producer, queue: str) -> int:
    """Messages that wait in a queue; 0 where there is no such queue yet."""
    try:
        return int(producer.channel.queue_declare(queue, passive=True).message_count)
    except ChannelError:
        return 0
