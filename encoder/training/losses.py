"""The loss of LADER (Jin, Shin, Lu 2023, section 2.1): β · in-batch NLL + (1 − β) · triplet.

The paper prints the triplet loss with α inside the second distance, where it would be no margin; it is added
to the difference of the distances, as in its source (Schroff et al. 2015).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def in_batch_nll(scores: Tensor, positives: Tensor, excluded: Tensor) -> Tensor:
    """−log softmax of each query's positive among the minibatch's candidates; the mean over queries.

    Args:
        scores: (queries, candidates) inner products, neither scaled nor normalised.
        positives: (queries,) the candidate that is the query's positive.
        excluded: (queries, candidates) bool, true where a candidate is known to be relevant to the query
            without being its positive: it is no negative.
    """
    return functional.cross_entropy(scores.masked_fill(excluded, -torch.inf), positives)


def triplet(queries: Tensor, positives: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """max(0, |q − d⁺| − |q − d⁻| + margin), the mean over (n, dim) rows; distances are Euclidean."""
    near = torch.linalg.vector_norm(queries - positives, dim=1)
    far = torch.linalg.vector_norm(queries - negatives, dim=1)
    return functional.relu(near - far + margin).mean()
