"""Which workers answer, on what device they compute, and what they did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.hints import queue_name
from trifuse.worker.broker import BAD_URL

if TYPE_CHECKING:
    from celery import Celery

STATUS_COMMAND = "trifuse_status"
"""The control command of `control.py`."""


class WorkerInfo(msgspec.Struct, frozen=True):
    """One worker that answered.

    Args:
        name: its Celery node name.
        pid: of its parent process.
        processes: children in its pool.
        encoder, device: what it was asked to run.
        space, provider: the id of the encoder's space and the device in use, as a child says that made a
            session; "" before one has.
        counters: sums over its processes, those that are gone included: see `metrics.Counters`.
        rates: documents a second, by index and vector field, over the last minute.
    """

    name: str
    pid: int
    processes: int
    encoder: str
    device: str
    space: str
    provider: str
    counters: Mapping[str, int | float]
    rates: Mapping[str, Mapping[str, float]] = {}


def workers(app: Celery, *, timeout_s: float = 1.0) -> list[WorkerInfo]:
    """The workers that answer within the time, by name; none where the broker can't be reached."""
    replies = _ask(app, STATUS_COMMAND, timeout_s)
    return [
        msgspec.convert({"name": name, **reply}, WorkerInfo)
        for name, reply in sorted(replies.items())
        if "error" not in reply
    ]


def is_listening(app: Celery, space: EncoderSpace, *, timeout_s: float = 2.0) -> bool:
    """Whether a worker takes messages from the queue of this space."""
    queues = _ask(app, "active_queues", timeout_s)
    return any(queue["name"] == queue_name(space) for listed in queues.values() for queue in listed)


def _ask(app: Celery, command: str, timeout_s: float) -> dict[str, Any]:
    """Node to reply."""
    try:
        replies = app.control.broadcast(command, reply=True, timeout=timeout_s) or []
    except (KombuError, RedisError, OSError, *BAD_URL):
        return {}
    return {node: reply for item in replies for node, reply in item.items()}
