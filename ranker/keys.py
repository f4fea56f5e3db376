"""Every Redis key that trifuse writes, with its lifetime, which every write renews.

| key | type | holds | lifetime |
|---|---|---|---|
| `trifuse:{NAME}:hD:q:QUERY` | string | a past query's clicks, as records | 400 days |
| `trifuse:{NAME}:hD:docs` | hash | hash of a document's id → its id | 400 days |
| `trifuse:{NAME}:hD:queries` | hash | public past query's id → its clicks and last renewal | 400 days |
| `trifuse:{NAME}:hD:few` | hash | other past query's id → its clicks and visitors | 400 days |
| `trifuse:{NAME}:hD:seen:DAY` | set | marks of counted events that have no visitor | 8 days |
| `trifuse:{NAME}:hD:visits:DAY` | hash | visitor's mark → marks of the clicks counted that day | 8 days |
| `trifuse:deliveries:ID` | string | how often a message came again (`trifuse.worker.deliveries`) | 1 day |

NAME is the search index or alias, QUERY a past query's id, `hD` the half-life in days that the counts fade
by: counts of two half-lives never meet in one key, and after a change the old ones expire by themselves. The
records, and the 8 bytes by which they name a document, are those of `trifuse.ranker.clicks.records`; those of
a query that nothing was clicked for yet live for a day. A query is public once enough visitors made it. DAY
is the day of the event, in days since 1970, so that a redelivered event finds the same marks.
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
    """The records of one past query."""
    return f"{_prefix(index, half_life_days)}:q:{query}"


def docs_key(index: str, half_life_days: float) -> str:
    """The ids of the documents that records name by hash."""
    return f"{_prefix(index, half_life_days)}:docs"


def queries_key(index: str, half_life_days: float) -> str:
    """The public past queries of an index, by how often something was clicked for them."""
    return f"{_prefix(index, half_life_days)}:queries"


def few_key(index: str, half_life_days: float) -> str:
    """The past queries that too few visitors made for them to be public."""
    return f"{_prefix(index, half_life_days)}:few"


def seen_key(index: str, half_life_days: float, timestamp: float) -> str:
    """The marks of one day's events; `timestamp` is the event's, in seconds since 1970."""
    return f"{_prefix(index, half_life_days)}:seen:{int(timestamp // DAY_S)}"


def visits_key(index: str, half_life_days: float, timestamp: float) -> str:
    """The marks of each visitor's clicks of one day; `timestamp` is the event's, in seconds since 1970."""
    return f"{_prefix(index, half_life_days)}:visits:{int(timestamp // DAY_S)}"


def _prefix(index: str, half_life_days: float) -> str:
    return f"trifuse:{hash_tag(index)}:h{half_life_days:g}"
