"""Judgements from the click log, for tuning and evaluation where nobody judged.

    qrels = {judged.query: judged.grades for judged in judgements(client, redis, "trials")}

A pair of a public past query and a document is graded by its clicks over the clicks expected at the ranks
where it was shown (`trifuse.worker.clicks.coec`). Both are what Redis holds, so that caps, fading and
forgetting are in them; of each query as of its newest click. What is expected is scaled so that the log as
a whole has as many clicks as are expected: a curve that is too high or too low as a whole changes no grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from opensearchpy import OpenSearch

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.records import Sums, merged
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.coec import graded, smoothed_coec
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.errors import NothingJudged
from trifuse.worker.clicks.indexes import encoder_of
from trifuse.worker.clicks.names import document_names, query_texts, text_of

MIN_EXPECTED = 1.0
GRADES = 3

_AT_ONCE = 200


class Judged(msgspec.Struct, frozen=True):
    """What the log says of one past query.

    Args:
        query, text: its id, and what users typed.
        grades: document's id to grade, the best first; 1 and more is relevant.
        unsure: how many documents more were shown, too seldom to be judged or never clicked.
    """

    query: str
    text: str
    grades: dict[str, int]
    unsure: int


def judgements(
    client: OpenSearch, redis: Any, index: str, *, min_expected: float = MIN_EXPECTED, grades: int = GRADES
) -> Iterator[Judged]:
    """The public past queries of a search index, by id, with the documents that the log has enough of.

    A document that nobody ever clicked, for any query, is not judged, as its id isn't kept; nor is one whose
    id no line of qrels can hold.

    Args:
        min_expected: a pair is judged from so many expected clicks on.
        grades: the highest grade.

    Raises:
        SearchIndexMissing: there is no such index.
        NothingJudged: in the end, where no pair was shown often enough.
    """
    encoder_of(client, index)
    queries = sorted(text_of(query) for query in redis.hkeys(queries_key(index, HALF_LIFE_DAYS)))
    level, some = _level(redis, index, queries), False
    for ids, sums in _read(redis, index, queries):
        expected = sums.expected * level
        sure = np.flatnonzero(expected >= min_expected)
        found = graded(smoothed_coec(sums.clicks[sure], expected[sure]), grades)
        names = document_names(redis, index, [sums.docs[doc].tobytes() for doc in sums.doc[sure]])
        judged: dict[int, dict[str, int]] = {}
        for query, name, grade in zip(sums.query[sure].tolist(), names, found.tolist(), strict=True):
            if name is not None and name.isprintable():
                judged.setdefault(query, {})[name] = grade
        shown = np.bincount(sums.query, minlength=len(ids)).tolist()
        texts = query_texts(client, index, ids)
        for place, query in enumerate(ids):
            if query in texts and shown[place]:
                by_document = dict(sorted(judged.get(place, {}).items(), key=_best_first))
                some = some or bool(by_document)
                yield Judged(query, texts[query], by_document, shown[place] - len(by_document))
    if not some:
        raise NothingJudged(
            f"no document was shown often enough for a query of {index!r} to be judged: expected "
            f"{min_expected:g} clicks or more at the ranks where it stood (--min-expected). Clicks count for "
            "that where their pages or positions are logged, for queries of enough visitors; after Redis "
            f"was lost, `trifuse clicks rebuild --index {index}` counts them"
        )


def _level(redis: Any, index: str, queries: Sequence[str]) -> float:
    """The log's clicks over what its curve expects, as a whole; 0 where nothing is expected."""
    clicks = expected = 0.0
    for _, sums in _read(redis, index, queries):
        clicks, expected = clicks + float(sums.clicks.sum()), expected + float(sums.expected.sum())
    return clicks / expected if expected else 0.0


def _read(redis: Any, index: str, queries: Sequence[str]) -> Iterator[tuple[Sequence[str], Sums]]:
    """What is counted where something is expected, so many queries at a time."""
    for start in range(0, len(queries), _AT_ONCE):
        ids = queries[start : start + _AT_ONCE]
        strings = read_strings(redis, [clicks_key(index, HALF_LIFE_DAYS, query) for query in ids])
        sums = merged(strings, None, HALF_LIFE_DAYS)
        shown = sums.expected > 0
        rows = {name: getattr(sums, name)[shown] for name in ("doc", "query", "clicks", "expected")}
        yield ids, sums._replace(**rows)


def _best_first(judged: tuple[str, int]) -> tuple[int, str]:
    return -judged[1], judged[0]
