"""Texts to features without an encoder, for comparison: TF-IDF, and means of word vectors.

Both learn their words from the training texts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.deploy.extra import one_thread, trials_extra

WORDS = 50_000
"""Words that TF-IDF knows at most."""

VECTOR_WORDS = 20_000
"""Words that have a vector at most."""

WORD_DIMENSION = 300
WINDOW = 5
_TEXTS_AT_ONCE = 500


def tfidf(texts: Sequence[str], train: NDArray[np.bool_]) -> Any:
    """(n, words) sparse, rows of unit norm: 1 + log of the count, by the inverse share of texts.

    Args:
        train: (n,) the texts whose words it knows.

    Raises:
        TrialsMissing: scikit-learn isn't installed.
    """
    with trials_extra("TF-IDF"):
        from sklearn.feature_extraction.text import TfidfVectorizer
    made = TfidfVectorizer(stop_words="english", sublinear_tf=True, max_features=WORDS)
    made.fit(text for text, used in zip(texts, train, strict=True) if used)
    return made.transform(texts)


def word_vectors(texts: Sequence[str], train: NDArray[np.bool_], *, seed: int = 0) -> NDArray[np.float64]:
    """(n, dimension) the mean of the vectors of a text's words, of unit norm; zero where it has none.

    A word's vector is what singular value decomposition leaves of its positive pointwise mutual information
    with the words within five places of it, which is what skip-gram's (word2vec's) vectors factorise, too:
    Levy, Goldberg 2014, "Neural Word Embedding as Implicit Matrix Factorization".

    Args:
        train: (n,) the texts that are learned from.

    Raises:
        TrialsMissing: scikit-learn isn't installed.
    """
    with trials_extra("word vectors"):
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize
    counter = CountVectorizer(max_features=VECTOR_WORDS)
    learned = [text for text, used in zip(texts, train, strict=True) if used]
    counter.fit(learned)
    analyze = counter.build_analyzer()
    numbers = [
        np.array([number for word in analyze(text) if (number := counter.vocabulary_.get(word)) is not None])
        for text in learned
    ]
    information = mutual_information(numbers, len(counter.vocabulary_))
    size = min(WORD_DIMENSION, len(counter.vocabulary_) - 1)
    svd = TruncatedSVD(size, random_state=seed)
    with one_thread():
        words = svd.fit_transform(information)
    words /= np.sqrt(np.maximum(svd.singular_values_, 1e-12))
    found: NDArray[np.float64] = normalize(counter.transform(texts) @ words)
    return found


def mutual_information(texts: Sequence[NDArray[np.int64]], words: int) -> Any:
    """(words, words) sparse, symmetric: max(0, log of how much more often two words are near than by chance).

    Args:
        texts: the numbers of the words of each text, in their order.
    """
    from scipy.sparse import coo_array, csr_array

    near = csr_array((words, words), dtype=np.float64)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        pairs = [
            (text[:-apart], text[apart:])
            for text in texts[start : start + _TEXTS_AT_ONCE]
            for apart in range(1, WINDOW + 1)
        ]
        before, after = (np.concatenate(side).astype(np.int64) for side in zip(*pairs, strict=True))
        some = coo_array((np.ones(len(before)), (before, after)), shape=(words, words)).tocsr()
        near += some + some.T
    near = near.tocoo()
    each = np.asarray(near.sum(axis=1)).ravel()
    more = np.log(near.data * near.sum() / (each[near.row] * each[near.col]))
    kept = more > 0
    return coo_array((more[kept], (near.row[kept], near.col[kept])), shape=(words, words)).tocsr()
