"""Reading the click store: one round trip for all past queries, and a client whose waits are bounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.client import NEVER_DECODE
from redis.retry import Retry

from trifuse.ranker.keys import clicks_key, docs_key, queries_key

_KEPT = {
    "host",
    "port",
    "path",
    "db",
    "username",
    "password",
    "credential_provider",
    "client_name",
    "protocol",
}
_AS_BYTES = {NEVER_DECODE: True}


def bounded(redis: Any, timeout_s: float) -> Any:
    """A client of the same server that waits no longer than `timeout_s` for anything, and tries once.

    A cluster's or sentinel's client comes back as it is: give those their timeouts when you make them.
    """
    pool = getattr(redis, "connection_pool", None)
    if type(pool) is not ConnectionPool:
        return redis
    kept = {k: v for k, v in pool.connection_kwargs.items() if k in _KEPT or k.startswith("ssl")}
    return Redis(
        connection_pool=ConnectionPool(
            connection_class=pool.connection_class,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
            **kept,
        )
    )


def read_clicks(
    redis: Any, index: str, half_life_days: float, queries: Sequence[str], query: str
) -> tuple[list[bytes | None], float | None]:
    """What is kept of past queries, in one round trip.

    Args:
        queries: ids of the past queries whose records are wanted.
        query: the id of the query that is looked up.

    Returns:
        their records, in their order, None where there are none; and the clicks counted for the query, None
        where it isn't public.
    """
    pipeline = redis.pipeline(transaction=False)
    pipeline.hget(queries_key(index, half_life_days), query)
    if queries:
        prefix = clicks_key(index, half_life_days, "")
        keys = [prefix + each for each in queries]
        pipeline.execute_command("MGET", *keys, **_AS_BYTES)
    frequency, *strings = pipeline.execute()
    return (strings[0] if strings else []), clicks_counted(frequency)


def clicks_counted(value: bytes | str | None) -> float | None:
    """How often a query was clicked for, from what is kept of it; None where that is no count.

    >>> clicks_counted("12 20787")  # the day on which its records were last given their whole lifetime
    12.0
    """
    try:
        return None if value is None or math.isnan(number := float(value.split()[0])) else number
    except (ValueError, IndexError):
        return None


def read_names(redis: Any, index: str, half_life_days: float, docs: Sequence[bytes]) -> list[bytes | None]:
    """The ids of documents by their hashes; None where there is none."""
    found: list[bytes | None] = redis.execute_command(
        "HMGET", docs_key(index, half_life_days), *docs, **_AS_BYTES
    )
    return found
