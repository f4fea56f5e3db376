"""How often the click log has the evaluated queries themselves, and the segments that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.settings import segment_of
from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation.inputs import Frequencies
from trifuse.ranker.keys import queries_key

_BATCH = 10_000


def log_frequencies(
    redis: Any, index: str, queries: Mapping[str, str], *, half_life_days: float = HALF_LIFE_DAYS
) -> dict[str, int]:
    """Query id to how often the log of an index has that query, by its normal form; 0 where it hasn't.

    Args:
        redis: a client of the click store.
        queries: id to text.

    Raises:
        RedisError: the click store doesn't answer.
    """
    key = queries_key(index, half_life_days)
    members = [query_id(normalize_query(text)) for text in queries.values()]
    scores: list[Any] = []
    for start in range(0, len(members), _BATCH):
        scores += redis.hmget(key, members[start : start + _BATCH])
    return {query: int(clicks_counted(score) or 0) for query, score in zip(queries, scores, strict=True)}


def query_segments(frequencies: Mapping[str, int | str], *, leave_one_out: bool = False) -> dict[str, str]:
    """Query id to segment, by its frequency; a segment that is given stays.

    Args:
        leave_one_out: one occurrence is the query under test itself.

    >>> query_segments({"a": 45, "b": 6, "c": 0, "d": "HEAD"}, leave_one_out=True)
    {'a': 'TORSO', 'b': 'TAIL', 'c': 'TAIL', 'd': 'HEAD'}
    """
    return {
        query: given if isinstance(given, str) else segment_of(given - leave_one_out)
        for query, given in frequencies.items()
    }


def of_queries(given: Frequencies, queries: Mapping[str, str]) -> Frequencies:
    """Frequencies of a file, for the evaluated queries.

    Raises:
        UnreadableInput: it lacks some of them.
    """
    lacking = [query for query in queries if query not in given]
    if lacking:
        raise UnreadableInput(
            f"the frequencies lack {len(lacking)} of the {len(queries)} evaluated queries, such as "
            f"{lacking[0]!r}: their ids must be the same; write 0 for a query that the log hasn't"
        )
    return {query: given[query] for query in queries}
