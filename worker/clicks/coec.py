"""Grades from clicks over expected clicks. Pure functions.

Clicks over expected clicks (COEC; Zhang and Jones 2007, "Comparing click logs and editorial labels for
training query rewriting") are a document's clicks for a query, over the clicks that the ranks where it stood
get on average. 1 is a document that is clicked as often as what stands there usually is. Drawn to 1 by a
prior, as few clicks say little. (A model that tells attention and attraction apart, from what was skipped on
each page, is the dynamic Bayesian network of Chapelle and Zhang 2009; it needs whole sessions.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PRIOR = 1.0
"""So many expected clicks of an average document are added to each."""

Floats = NDArray[np.float64]


def smoothed_coec(clicks: Floats, expected: Floats) -> Floats:
    """(n,) clicks over expected clicks, with the prior.

    >>> smoothed_coec(np.array([5.0, 0.0]), np.array([1.0, 3.0])).tolist()
    [3.0, 0.25]
    """
    return (clicks + PRIOR) / (expected + PRIOR)


def graded(coec: Floats, grades: int) -> NDArray[np.int64]:
    """(n,) grades from 0 to `grades`: 1 from 1 on, and each of the others from twice the one below.

    >>> graded(np.array([0.9, 1.0, 1.9, 2.0, 4.0, 100.0]), 3).tolist()
    [0, 1, 1, 2, 3, 3]
    """
    return np.searchsorted(2.0 ** np.arange(grades), coec, side="right")
