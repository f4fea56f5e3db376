"""Words of trials as scores: TF-IDF and BM25. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from trial2vec_protocol import Judged

Numbers = NDArray[np.float64]
Scores = list[Numbers]
"""Of each query: one number a candidate, in the order of its candidates."""

K1, B, EPSILON = 1.5, 0.75, 0.25
"""As the package rank-bm25 has them, which the paper uses."""


@dataclass(frozen=True)
class Bm25:
    """Okapi BM25 with statistics of some documents.

    Args:
        idf: (words,); a word of more than half of the documents has `EPSILON` times the words' mean.
        length: words of a document, in the mean.
    """

    idf: Numbers
    length: float

    @classmethod
    def of(cls, counts: Any) -> Bm25:
        """The statistics of documents: (n, words) sparse counts."""
        having = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log(counts.shape[0] - having + 0.5) - np.log(having + 0.5)
        idf = np.where(idf < 0, EPSILON * idf[having > 0].mean(), idf)
        return cls(idf, float(counts.sum() / counts.shape[0]))

    def scores(self, query: Any, documents: Any) -> Numbers:
        """(n,) the scores of (n, words) counts for a text's (1, words) counts; its words count as often as it
        has them."""
        words = query.indices
        often = documents[:, words].toarray()
        lengths = np.asarray(documents.sum(axis=1)).reshape(-1, 1)
        damped = often + K1 * (1 - B + B * lengths / self.length)
        found: Numbers = (often * (K1 + 1) / damped) @ (self.idf[words] * query.data)
        return found


def tfidf(texts: Sequence[str]) -> Any:
    """(n, words) sparse, rows of unit norm: scikit-learn's defaults."""
    return TfidfVectorizer().fit_transform(texts)


def counts(texts: Sequence[str]) -> Any:
    """(n, words) sparse, float64."""
    return CountVectorizer(dtype=np.float64).fit_transform(texts)


def bm25_scores(
    queries: Sequence[Judged], places: Mapping[str, int], words: Any, *, over_all: bool
) -> Scores:
    """Of each candidate, by statistics of the query's candidates alone, or of all documents.

    Args:
        places: trial to its row of `words`.
    """
    known = Bm25.of(words) if over_all else None
    found = []
    for query in queries:
        documents = words[[places[each] for each in query.candidates]]
        found.append((known or Bm25.of(documents)).scores(words[[places[query.trial]]], documents))
    return found


def vector_scores(
    queries: Sequence[Judged], places: Mapping[str, int], vectors: Any, asked: Any = None
) -> Scores:
    """Inner products of each query's vector with its candidates'.

    Args:
        vectors: (n, dim), sparse or not.
        asked: the same of queries, where these have others.
    """
    asked = vectors if asked is None else asked
    found = []
    for query in queries:
        rows = vectors[[places[each] for each in query.candidates]]
        products = rows @ asked[[places[query.trial]]].T
        dense = products if isinstance(products, np.ndarray) else products.toarray()
        found.append(dense.ravel().astype(np.float64))
    return found
