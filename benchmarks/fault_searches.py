"""Searches that run during a whole cell: none may fail for lack of vectors, none may mix two spaces."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.types import Encoder
from trifuse.ranker.errors import IndexMissing, SearchRejected, SearchUnavailable
from trifuse.ranker.hybrid import HybridRanker

PAUSE_S = 0.05
UNAVAILABLE = 503
"""The status where OpenSearch is away, or the shards of an index are only starting."""

CLOSE = 2e-3
"""Of a score to the one that a space gives."""

TEXT = "carol neuan hepix ostol deran"


class Searches:
    """A thread that searches, and what it saw.

    Args:
        ranker: knows the encoders of all spaces of the cell.
        texts: the first text of each document, by id.
        encoders: of the spaces that a response may be in; none where that isn't looked at.
        away: whether OpenSearch may be away for a while in this cell.
    """

    def __init__(
        self,
        ranker: HybridRanker,
        index: str,
        *,
        texts: Mapping[str, str] | None = None,
        encoders: Sequence[Encoder] = (),
        away: bool,
    ) -> None:
        self._ranker, self._index, self._away = ranker, index, away
        self._scores = [_scores(encoder, texts or {}) for encoder in encoders]
        self._ending = threading.Event()
        self.changed: set[str] = set()
        self.faults: list[str] = []
        self.seen: Counter[str] = Counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Search while the block runs."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            thread.join(60)

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                response = self._ranker.search(self._index, text=TEXT, size=20)
            except IndexMissing:
                self.seen["before the index"] += 1
                if self.seen["answered"]:
                    self.faults.append("a search found no index any more")
            except (SearchUnavailable, SearchRejected) as error:
                self.seen["unavailable"] += 1
                if error.status != UNAVAILABLE or (self.seen["answered"] and not self._away):
                    self.faults.append(f"a search failed: {type(error).__name__}: {error}")
            except (TrifuseError, OpenSearchException, LookupError, TypeError, ValueError) as error:
                self.faults.append(f"a search failed: {type(error).__name__}: {error}")
            else:
                self.seen["answered"] += 1
                self._look(response)
            time.sleep(PAUSE_S)

    def _look(self, response: Mapping[str, Any]) -> None:
        """Which space the scores of the dense leg are of."""
        spaces = set(range(len(self._scores)))
        dense = False
        for hit in response["hits"]["hits"]:
            leg = hit["trifuse"]["legs"].get("dense")
            if leg is None or leg["score"] is None:
                continue
            dense = True
            if hit["_id"] in self.changed:
                continue
            explained = {
                place
                for place, scores in enumerate(self._scores)
                if abs(scores.get(hit["_id"], 9.0) - leg["score"]) < CLOSE
            }
            if self._scores and not explained:
                self.faults.append(f"the score {leg['score']} of {hit['_id']} is of no space")
            spaces &= explained or spaces
        self.seen["with vectors"] += dense
        if self._scores and not spaces:
            self.faults.append("a response mixed two spaces")
        for place in spaces if dense and len(spaces) == 1 else ():
            self.seen[f"space {place + 1}"] += 1


def _scores(encoder: Encoder, texts: Mapping[str, str]) -> dict[str, float]:
    """What the dense leg gives each document: (1 + cosine) / 2."""
    if not texts:
        return {}
    encoding = encoder.encode(list(texts.values()), role="document")
    query = encoder.encode_queries([TEXT])[0]
    cosines: list[float] = (encoding.vectors @ query / max(float(np.linalg.norm(query)), 1e-9)).tolist()
    known = zip(texts, cosines, strict=True)
    return {
        doc_id: (1.0 + cosine) / 2
        for row, (doc_id, cosine) in enumerate(known)
        if row not in encoding.rejected
    }


def searcher(client: OpenSearch, encoders: Sequence[Encoder]) -> HybridRanker:
    """A ranker that knows these encoders."""
    return HybridRanker(client, encoders if len(encoders) > 1 else encoders[0])
