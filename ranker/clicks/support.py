"""What the other legs say of past queries: how much of what was clicked for them they find, too. Pure NumPy.

The vectors of two short queries may lie close together though people want different things by them. Whether
they want the same shows in the documents: where BM25 and the dense leg, asked the new query, find what was
clicked for a past one, that past query is a better witness. So its similarity is raised by

    support_i = Σ_{d clicked for q_i} h(d)² / (n_i + 3)

before the softmax, times `ClickSettings.support`: h(d) in [0, 1] is the weighted mean of the other legs'
normalised scores, 0 where none of them found d; n_i is how many documents were clicked for q_i. The square
lets the legs' best hits speak more than their many poor ones, and the 3 keeps a past query with one lucky
document from looking better than one with ten. The constants were chosen on the training queries of NFCorpus
(docs/lader.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.integer]

SMOOTHING = 3.0


def query_support(found: Floats, doc: Positions, query: Positions, queries: int) -> Floats:
    """The support of each past query, (queries,) in [0, 1).

    Args:
        found: (docs,) h of each document, in [0, 1].
        doc, query: (n,) positions of the document and the past query of each pair that was clicked.
        queries: how many past queries there are; one without documents has no support.

    >>> found = np.array([1.0, 0.5, 0.0])  # the first past query has documents 0 and 2, the second 1
    >>> query_support(found, np.array([0, 2, 1]), np.array([0, 0, 1]), 2).tolist()
    [0.2, 0.0625]
    """
    documents = np.bincount(query, minlength=queries)
    total = np.bincount(query, weights=found[doc] ** 2, minlength=queries)
    support: Floats = total / (documents + SMOOTHING)
    return support
