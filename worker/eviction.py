"""Whether a Redis throws keys away under memory pressure: its `maxmemory-policy`.

The broker mustn't (`trifuse.worker.broker` refuses one that does): a message that is gone is lost. The click
store may, as the events behind it stand in OpenSearch: it is worth a warning.
https://redis.io/docs/latest/develop/reference/eviction/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from redis.exceptions import RedisError, ResponseError

NO_EVICTION = "noeviction"


def maxmemory_policy(client: Any) -> str | None:
    """What the server answers: managed services forbid CONFIG, but most answer INFO; None where neither.

    Raises:
        RedisError: the server doesn't answer at all.
    """
    answers: tuple[Callable[[], Mapping[Any, Any]], ...] = (
        lambda: client.info("memory"),
        lambda: client.config_get("maxmemory-policy"),
    )
    for answer in answers:
        try:
            found = answer()
        except ResponseError:  # forbidden, or no such command
            continue
        policy = found.get("maxmemory_policy") or found.get("maxmemory-policy")
        if policy:
            return str(policy)
    return None


def evicting_store(client: Any) -> str | None:
    """What to warn of where the click store evicts; None where it doesn't, doesn't tell, or doesn't answer.

    Args:
        client: of the click store.
    """
    try:
        policy = maxmemory_policy(client)
    except (RedisError, OSError):
        return None
    if policy is None or policy == NO_EVICTION:
        return None
    return (
        f"the click store's maxmemory-policy is {policy!r}, expected {NO_EVICTION!r}: when its memory is "
        "full it throws counted clicks away, and searches do without them. Set `maxmemory-policy "
        "noeviction`, or give the click log a Redis of its own (--redis, REDIS_URL); `trifuse clicks rebuild "
        "--index NAME` brings back what was lost"
    )
