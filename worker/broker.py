"""The broker must keep what it was given: a Redis that evicts keys under pressure loses messages."""

from __future__ import annotations

import logging
import re

import redis
from kombu.utils.url import maybe_sanitize_url
from redis.exceptions import RedisError

from trifuse.indexer.errors import HintsUndelivered
from trifuse.worker.errors import BrokerUnsafe
from trifuse.worker.eviction import NO_EVICTION, maxmemory_policy

logger = logging.getLogger(__name__)

BAD_URL = (KeyError, ValueError, ImportError)
"""What kombu raises, at the first use, where a URL is none, or its transport isn't known or installed."""

_SCHEMES = ("redis://", "rediss://")
_SOCKETS = {"redis+socket://": "unix://", "unix://": "unix://"}


def check_broker(url: str, *, timeout_s: float = 5.0) -> str | None:
    """The broker's `maxmemory-policy`; None, and a warning in the log, where it doesn't tell.

    Raises:
        BrokerUnsafe: the policy evicts keys.
        HintsUndelivered: the broker can't be reached, or its URL can't be used.
    """
    address = _address(url)
    if address is None:
        logger.warning("can't ask the broker for its maxmemory-policy: make sure that it is noeviction")
        return None
    try:
        with redis.Redis.from_url(
            address, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, decode_responses=True
        ) as client:
            policy = maxmemory_policy(client)
    except RedisError as error:
        raise unreachable(url, error) from error
    except ValueError as error:
        raise unusable(url, error) from error
    if policy is None:
        logger.warning("the broker doesn't tell its maxmemory-policy: make sure that it is noeviction")
    elif policy != NO_EVICTION:
        raise BrokerUnsafe(
            f"the broker's maxmemory-policy is {policy!r}, expected 'noeviction': under memory pressure it "
            "would throw messages away. Set `maxmemory-policy noeviction`, or give the broker a Redis of its "
            "own (--broker, TRIFUSE_BROKER_URL)"
        )
    return policy


def unreachable(url: str, error: Exception) -> HintsUndelivered:
    """The error to raise where the broker doesn't answer; the URL's password stays out of it."""
    return HintsUndelivered(
        f"the broker at {_shown(url)} can't be reached ({error}). Nothing is lost, what is "
        "pending stays so: start the broker or name it (--broker, TRIFUSE_BROKER_URL); then `trifuse sync`"
    )


def unusable(url: str, error: Exception) -> HintsUndelivered:
    """The error to raise where the broker's URL is none, or of a kind that isn't known."""
    why = str(error.args[0]) if error.args else type(error).__name__
    return HintsUndelivered(
        f"{_shown(url)!r} is no URL of a broker that can be used ({why}): write it as "
        "redis://:password@host:6379/0 (--broker, TRIFUSE_BROKER_URL); then `trifuse sync`"
    )


def _shown(url: str) -> str:
    """The URL without its password."""
    try:
        return str(maybe_sanitize_url(url))
    except ValueError:  # no URL, but it may hold a password all the same
        return re.sub(r":[^:@]*@", ":**@", url)


def _address(url: str) -> str | None:
    """The URL as redis-py spells it; None for a broker that isn't one Redis server."""
    if url.startswith(_SCHEMES):
        return url
    for scheme, ours in _SOCKETS.items():
        if url.startswith(scheme):
            return ours + url.removeprefix(scheme)
    return None
