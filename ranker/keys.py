"""Every Redis key that trifuse writes, with its lifetime, which every write renews.

| key | type | holds | lifetime |
|---|---|---|---|
| `trifuse:{NAME}:hD:q:QUERY` | sorted set | document id → log2 of its decayed clicks | 400 days |
| `trifuse:{NAME}:hD:queries` | sorted set | past query's id → its clicks | 400 days |
| `trifuse:{NAME}:hD:seen:DAY` | set | hashes of counted events of a day | 8 days |

NAME is the search index or alias, QUERY a past query's id, `hD` the half-life in days that the counts were
decayed by: counts of two half-lives never meet in one key, and after a change the old ones expire by
themselves. DAY is the day of the event, in days since 1970, so that a redelivered event finds the same set.
The braces are Redis Cluster's hash tag: all keys of one index share a slot, so that one command may name many
of them (the limit: the clicks of one index live on one shard). Celery's own keys aren't listed here: its
results expire by `result_expires`.
"""

from __future__ import annotations

DAY_S = 86_400
AGGREGATE_LIFETIME_S = 400 * DAY_S
SEEN_LIFETIME_S = 8 * DAY_S


def hash_tag(index: str) -> str:
    """The part of a key that Redis Cluster takes the slot from; braces in a name would end it early."""
    return "{" + index.replace("{", "%7B").replace("}", "%7D") + "}"


def clicks_key(index: str, half_life_days: float, query: str) -> str:
    """The documents clicked for one past query, by log2 of their decayed clicks."""
    return f"trifuse:{hash_tag(index)}:h{half_life_days:g}:q:{query}"


def queries_key(index: str, half_life_days: float) -> str:
    """The past queries of an index, by how often something was clicked for them."""
    return f"trifuse:{hash_tag(index)}:h{half_life_days:g}:queries"


def seen_key(index: str, half_life_days: float, timestamp: float) -> str:
    """The ids of the counted events of one day; `timestamp` is the event's, in seconds since 1970."""
    return f"trifuse:{hash_tag(index)}:h{half_life_days:g}:seen:{int(timestamp // DAY_S)}"
