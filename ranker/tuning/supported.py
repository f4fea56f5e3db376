"""Click evidence under many opinions of the other legs. Pure NumPy.

The same numbers as `ClickEvidence.supported` gives, without a dictionary of documents for each opinion: what
no opinion changes is worked out once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.evidence import Clicks
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.support import query_support
from trifuse.ranker.clicks.weights import best_documents, document_scores
from trifuse.ranker.types import Floats, Key

Rows = NDArray[np.int64]


class SupportedClicks:
    """The clicks of one query, whose ids name one document each.

    Args:
        clicks: what past queries were clicked for.
        keys: the query's documents.
    """

    def __init__(self, clicks: Clicks, keys: Sequence[Key]) -> None:
        self._clicks = clicks
        row_of = {key.id: row for row, key in enumerate(keys)}
        documents = len(clicks.sums.docs)
        names = sorted(clicks.names.items(), key=lambda item: item[1])
        self._places = np.array([place for place, _ in names], np.int64)
        self._order = np.zeros(documents, np.int64)  # by id
        self._order[self._places] = np.arange(len(names))
        self._row = np.full(documents, -1, np.int64)
        self._row[self._places] = [row_of.get(id, -1) for _, id in names]
        self._known, self._at = clicks.places_of(key.id for key in keys)

    def scores(self, opinion: Floats | None, settings: ClickSettings) -> tuple[Rows, Floats]:
        """The rows of the best documents, -1 of those that aren't there, and their scores; ties by id.

        Args:
            opinion: (documents,) what the other legs give each of the query's; None: nothing.
        """
        clicks = replace(self._clicks, lookup=replace(self._clicks.lookup, settings=settings))
        support = None
        if opinion is not None:
            found = np.zeros(len(clicks.sums.docs))
            found[self._at] = opinion[self._known]
            support = query_support(found, clicks.sums.doc, clicks.sums.query, len(clicks.past))
        everything = document_scores(clicks.sums, clicks.weights, clicks.shares(support))
        named = np.zeros(len(everything))
        named[self._places] = everything[self._places]
        best = best_documents(named, settings.candidates)
        best = best[np.lexsort((self._order[best], -named[best]))]
        return self._row[best], named[best]


def opinion_of(documents: int, legs: Mapping[str, Rows], shares: Mapping[str, Floats]) -> Floats | None:
    """What the legs give each document together, (documents,); None where they found nothing.

    Args:
        legs: leg to the rows of its hits.
        shares: leg to what it adds to each hit (`fuse.opinions`).
    """
    if not shares:
        return None
    found = np.zeros(documents)
    for leg, added in shares.items():
        found[legs[leg]] += added
    return found
