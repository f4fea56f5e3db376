"""The plane and the clusters: neighbours stay together, and the same seed draws the same picture."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.deploy.errors import MapInvalid
from trifuse.deploy.map.plane import clusters_of, components, to_plane

pytest.importorskip("sklearn")

NOISE = np.random.default_rng(0).normal(scale=0.01, size=(30, 8)).astype(np.float32)
GROUPS = np.repeat([0, 1, 2], (15, 10, 5))
VECTORS = NOISE + np.eye(8, dtype=np.float32)[GROUPS]


def test_groups_are_clusters_the_largest_first() -> None:
    assert clusters_of(components(VECTORS), 3).tolist() == GROUPS.tolist()


def test_neighbours_stay_neighbours() -> None:
    """The nearest on the plane is of the same group, for every document."""
    places = to_plane(components(VECTORS))
    assert places.shape == (30, 2)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (GROUPS[apart.argmin(axis=1)] == GROUPS).all()


def test_the_same_seed_gives_the_same_picture() -> None:
    main = components(VECTORS, seed=1)
    assert main == pytest.approx(components(VECTORS, seed=1))
    assert to_plane(main, seed=1) == pytest.approx(to_plane(main, seed=1))
    assert clusters_of(main, seed=1).tolist() == clusters_of(main, seed=1).tolist()


def test_how_many_clusters_there_are() -> None:
    """The root of half of 30 is 3.9; never more than there are documents."""
    main = components(VECTORS)
    assert clusters_of(main).max() + 1 == 4
    assert clusters_of(main, 99).max() + 1 == 30
    assert clusters_of(main, 1).max() == 0


def test_fewer_different_vectors_than_clusters() -> None:
    """Two kinds of vectors in four clusters: two."""
    twice = np.repeat(np.eye(2, dtype=np.float32), (7, 5), axis=0)
    assert clusters_of(twice, 4).tolist() == [0] * 7 + [1] * 5


def test_vectors_of_one_number() -> None:
    line = np.linspace(0, 1, 12, dtype=np.float32)[:, None]
    assert np.isfinite(to_plane(components(line))).all()


def test_vectors_that_are_all_the_same_are_refused() -> None:
    with pytest.raises(MapInvalid, match="all 12 vectors are the same"):
        components(np.ones((12, 4), dtype=np.float32))
