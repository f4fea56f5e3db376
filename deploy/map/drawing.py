"""What is drawn: documents on a plane, their clusters, their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trifuse.deploy.map.colours import Colouring, by_value
from trifuse.deploy.map.names import cluster_names
from trifuse.deploy.map.plane import Numbers, Plane, clusters_of, components, to_plane
from trifuse.deploy.map.reading import Documents

LONGEST = 200
"""Characters of a text that are shown."""


@dataclass(frozen=True)
class VectorMap:
    """A map of n documents.

    Args:
        title: what stands above it.
        places: (n, 2) float32.
        clusters: (n,) the number of each one's cluster.
        names: of the clusters, by number.
        colouring: each document's colour: its cluster's, or its value's.
    """

    title: str
    ids: Sequence[str]
    titles: Sequence[str]
    places: Plane
    clusters: Numbers
    names: Sequence[str]
    colouring: Colouring

    def middle(self, cluster: int) -> tuple[float, float]:
        """Where a cluster's name stands: the median of its documents."""
        x, y = np.median(self.places[self.clusters == cluster], axis=0)
        return float(x), float(y)

    def hover(self, row: int) -> tuple[str, str, str]:
        """What is said of a document: its id, its title, its cluster."""
        cluster = self.clusters[row]
        return self.ids[row], short(self.titles[row], LONGEST), f"cluster {cluster}: {self.names[cluster]}"

    def as_dict(self) -> dict[str, Any]:
        """Coordinates and clusters as JSON."""
        sizes = np.bincount(self.clusters, minlength=len(self.names)).tolist()
        legend = self.colouring.legend
        return {
            "clusters": [
                {"number": number, "name": name, "documents": sizes[number]}
                for number, name in enumerate(self.names)
            ],
            "points": [
                {"id": id_, "title": title, "x": x, "y": y, "cluster": cluster, "color": legend[colour]}
                for id_, title, (x, y), cluster, colour in zip(
                    self.ids,
                    self.titles,
                    self.places.tolist(),
                    self.clusters.tolist(),
                    self.colouring.of,
                    strict=True,
                )
            ],
        }


def short(text: str, longest: int = 40) -> str:
    """A text that is cut where it is too long for a picture.

    >>> short("cluster of asthma", 10)
    'cluster o…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def draw(documents: Documents, title: str, *, clusters: int | None = None, seed: int = 0) -> VectorMap:
    """Put documents on a plane, and name their clusters; coloured by their values where they have some.

    Args:
        clusters: how many; None: by the number of documents.

    Raises:
        MapInvalid: all vectors are the same.
        TrialsMissing: scikit-learn isn't installed.
    """
    main = components(documents.vectors, seed=seed)
    numbers = clusters_of(main, clusters, seed=seed)
    places = to_plane(main, seed=seed)
    names = cluster_names(documents.texts, numbers)
    colouring = by_value(documents.values) if documents.values else Colouring(names, numbers.tolist())
    return VectorMap(title, documents.ids, documents.titles, places, numbers, names, colouring)
