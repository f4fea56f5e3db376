"""Vectors onto a plane, and into clusters."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from trifuse.deploy.errors import MapInvalid
from trifuse.deploy.extra import one_thread, trials_extra
from trifuse.encoder.types import Vectors

COMPONENTS = 50
PERPLEXITY = 30.0
MOST_CLUSTERS = 20

Plane = NDArray[np.float32]
Numbers = NDArray[np.int64]


def components(vectors: Vectors, *, seed: int = 0) -> Plane:
    """(n, at most 50) float32, the principal components: what of the vectors tells documents apart.

    Raises:
        MapInvalid: all vectors are the same.
        TrialsMissing: scikit-learn isn't installed.
    """
    with trials_extra("a map"):
        from sklearn.decomposition import PCA
    if not np.ptp(vectors, axis=0).any():
        raise MapInvalid(f"all {len(vectors)} vectors are the same: there is nothing to tell apart by them")
    with one_thread():
        found: Plane = PCA(min(COMPONENTS, *vectors.shape), random_state=seed).fit_transform(vectors)
    return found


def to_plane(vectors: Plane, *, seed: int = 0) -> Plane:
    """(n, 2) float32 by t-SNE: neighbours stay neighbours; distances between clusters mean nothing.

    Van der Maaten, Hinton 2008, "Visualizing Data using t-SNE".

    Args:
        vectors: (n, components).
    """
    with trials_extra("a map"):
        from sklearn.manifold import TSNE
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    start = (
        vectors[:, :2] if vectors.shape[1] > 1 else np.column_stack([vectors[:, 0], np.zeros(len(vectors))])
    )
    start = (start / np.std(start[:, 0]) * 1e-4).astype(np.float32)
    with one_thread():
        found: Plane = TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(vectors)
    return found


def clusters_of(vectors: Plane, count: int | None = None, *, seed: int = 0) -> Numbers:
    """(n,) the number of each one's cluster by k-means, the largest cluster first.

    Args:
        vectors: (n, components).
        count: how many; None: the root of half of n, at most 20.
    """
    with trials_extra("a map"):
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
    wanted = count or max(2, min(MOST_CLUSTERS, round((len(vectors) / 2) ** 0.5)))
    with one_thread(), warnings.catch_warnings():
        # Fewer different vectors than clusters: there are only so many then.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(min(wanted, len(vectors)), n_init=4, random_state=seed).fit(vectors)
    _, found, sizes = np.unique(fitted.labels_, return_inverse=True, return_counts=True)
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    numbers: Numbers = ranks[found]
    return numbers
