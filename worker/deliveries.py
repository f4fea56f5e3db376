"""Messages that come again because their worker was killed: a document that does it each time is given up.

A process that is killed for memory takes its message with it, and the message comes again: at first as it is,
then its documents one by one, and the one that kills once more is recorded as failed. Other reasons for a
second delivery (a power cut, a broker that restarts) are rare enough to stay below these bounds.
"""

from __future__ import annotations

import logging
from typing import Any

import redis
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

LIFETIME_S = 86_400
SPLIT_AT = 2
"""Redeliveries of a message with several documents, after which each gets one of its own."""
GIVE_UP_AT = 3
"""Redeliveries of a message with one document, after which it isn't tried any more."""

_TIMEOUT_S = 2.0


def redelivery(request: Any, redis_url: str) -> int:
    """How often the message of a Celery request came again, this time included; 0 the first time.

    Counted in Redis under `trifuse:deliveries:ID`, which expires after a day, and only from the second time
    on. Where Redis doesn't answer it counts as the first redelivery: the message is tried once more.
    """
    if not (request.delivery_info or {}).get("redelivered"):
        return 0
    key = f"trifuse:deliveries:{request.id}"
    try:
        with redis.Redis.from_url(
            redis_url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
        ) as store:
            count, _ = store.pipeline(transaction=True).incr(key).expire(key, LIFETIME_S).execute()
    except RedisError as error:
        logger.warning("redeliveries can't be counted: %s", error)
        return 1
    return int(count)
