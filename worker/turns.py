"""One sweep at a time: its slices follow each other as messages, and no other one is to begin beside them.

Kept in Redis under `trifuse:sweep`, which holds the id of the sweep that is under way.
"""

from __future__ import annotations

import logging

import redis
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

LIFETIME_S = 120
"""A sweep that isn't heard of for so long has died; far longer than a slice and the pause after it."""

_KEY = "trifuse:sweep"
_TIMEOUT_S = 2.0


def take_turn(redis_url: str, sweep: str, *, begins: bool) -> bool:
    """Whether this sweep may work now: it is the one under way, or there is none.

    Where Redis doesn't answer a sweep may begin, and none may go on.

    Args:
        sweep: its id.
        begins: whether this is its first slice.
    """
    try:
        with _store(redis_url) as store:
            if store.set(_KEY, sweep, nx=True, ex=LIFETIME_S):
                return True
            if store.get(_KEY) != sweep:
                return False
            store.expire(_KEY, LIFETIME_S)
    except RedisError as error:
        logger.warning("which sweep is under way can't be asked: %s", error)
        return begins
    return True


def end_turns(redis_url: str, sweep: str) -> None:
    """Let another sweep begin."""
    try:
        with _store(redis_url) as store:
            if store.get(_KEY) == sweep:
                store.delete(_KEY)
    except RedisError as error:
        logger.warning("the end of a sweep can't be noted, and is known in %d s: %s", LIFETIME_S, error)


def _store(redis_url: str) -> redis.Redis:
    return redis.Redis.from_url(
        redis_url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, decode_responses=True
    )
