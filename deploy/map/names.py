"""Names of clusters: the terms that set their documents apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trifuse.deploy.extra import trials_extra

TERMS = 3
_CANDIDATES = 10
_WORD = r"(?u)\b[^\W\d_][\w-]+\b"
_WORDS = 20_000
_MORE_OFTEN = 2.0
_AS_GOOD = 0.75


def cluster_names(texts: Sequence[str], clusters: NDArray[np.int64]) -> list[str]:
    """The name of each cluster: up to three terms of one or two words; its number where no term is its own.

    A term's weight in a cluster is tf · log(1 + A / f): tf is how many documents of the cluster have it, f
    how many in all, A the mean number of terms in a cluster (class-based TF-IDF: Grootendorst 2022,
    "BERTopic"). Only terms count that are twice as frequent in the cluster as elsewhere.

    Raises:
        TrialsMissing: scikit-learn isn't installed.
    """
    with trials_extra("a map"):
        from sklearn.feature_extraction.text import CountVectorizer
    counter = CountVectorizer(
        stop_words="english",
        ngram_range=(1, 2),
        token_pattern=_WORD,
        max_features=_WORDS,
        binary=True,
    )
    count = int(clusters.max()) + 1
    try:
        has = counter.fit_transform(texts)
    except ValueError:  # no term in any text
        return [f"cluster {number}" for number in range(count)]
    terms = counter.get_feature_names_out()
    within = np.stack([np.asarray(has[clusters == number].sum(axis=0)).ravel() for number in range(count)])
    sizes = np.bincount(clusters, minlength=count)[:, None]
    weights = _weights(within, sizes)
    return [_name(terms, weights[number], number) for number in range(count)]


def _weights(within: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """(clusters, terms) from the documents that have a term, and the sizes of the clusters; 0: none of it."""
    everywhere = within.sum(axis=0)
    weights = within * np.log1p(within.sum() / len(within) / everywhere)
    elsewhere = (everywhere - within) / np.maximum(sizes.sum() - sizes, 1)
    own = within / sizes >= _MORE_OFTEN * elsewhere
    return np.where(own, weights, 0.0)


def _name(terms: Sequence[str], weights: NDArray[np.float64], number: int) -> str:
    """The heaviest terms, no word twice; a pair of words rather than one of them that is hardly heavier."""
    best = [at for at in np.argsort(-weights, kind="stable")[:_CANDIDATES] if weights[at] > 0]
    pairs = [(terms[at].split(), weights[at]) for at in best if " " in terms[at]]
    chosen: list[str] = []
    for at in best:
        words = terms[at].split()
        said = {word for term in chosen for word in term.split()}
        part = len(words) == 1 and any(
            words[0] in pair and weight >= _AS_GOOD * weights[at] for pair, weight in pairs
        )
        if not part and said.isdisjoint(words):
            chosen.append(terms[at])
    return ", ".join(chosen[:TERMS]) or f"cluster {number}"
