"""A sample of the documents of an index with their vectors, to be drawn."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from opensearchpy import OpenSearch

from trifuse.deploy.errors import MapInvalid
from trifuse.deploy.titles import title_of
from trifuse.encoder.templates import TextTemplate, build_text, clean_text, values_at
from trifuse.encoder.types import Vectors
from trifuse.indexer.stored_vectors import Place, ServedVectors, places, read_vectors

FEWEST = 10
"""Documents that a picture needs."""

_NAMING_CHARS = 400


@dataclass(frozen=True)
class Documents:
    """Documents that were drawn by lot, by their ids.

    Args:
        vectors: (n, dimension) float32.
        titles: the first field of each that is part of the text that was embedded.
        texts: how that text begins: clusters are named by it.
        values: what each has in the field that it is coloured by; () without one.
        total: how many documents with a vector there are.
    """

    ids: Sequence[str]
    vectors: Vectors
    titles: Sequence[str]
    texts: Sequence[str]
    values: Sequence[Sequence[str]]
    total: int


def read_documents(
    client: OpenSearch,
    served: ServedVectors,
    *,
    limit: int,
    seed: int = 0,
    color: str | None = None,
    progress: Callable[[int, str], None] = lambda done, said: None,
) -> Documents:
    """At most `limit` documents that have a vector: the same ones at every reading with that seed.

    Args:
        color: the field that documents are coloured by.
        progress: told how many vectors are read, and a word on them.

    Raises:
        MapInvalid: there are too few to draw, or none has a value in the field.
    """
    found = [place for place, _ in places(client, served)]
    chosen = heapq.nsmallest(limit, found, key=lambda place: _lot(place, seed))
    chosen.sort(key=lambda place: (place.index, place.id))
    _require_enough(len(chosen))
    fields = served.space.template.fields
    whole = TextTemplate(fields, max_chars=_NAMING_CHARS)
    source = sorted({field.split(".")[0] for field in (*fields, *filter(None, [color]))})
    ids, vectors, titles, texts, values = [], [], [], [], []
    for document in read_vectors(client, chosen, source=source):
        ids.append(document.id)
        vectors.append(document.vector)
        titles.append(title_of(document.source, whole))
        texts.append(build_text(document.source, whole))
        if color is not None:
            said = values_at(document.source, color.split("."))
            values.append([text for value in said if (text := clean_text(str(value)))])
        progress(len(ids), "")
    _require_enough(len(ids))  # some may have been deleted meanwhile
    if color is not None and not any(values):
        raise MapInvalid(
            f"no document that was drawn has a value in the field {color!r}: name one that has by its path, "
            "such as interventions.name"
        )
    return Documents(ids, np.stack(vectors), titles, texts, values, len(found))


def _require_enough(count: int) -> None:
    if count < FEWEST:
        raise MapInvalid(
            f"{count} documents have a vector, but a picture needs {FEWEST}: fill the index with "
            "`trifuse sync --wait`, or raise --limit"
        )


def _lot(place: Place, seed: int) -> bytes:
    """A number that a document draws: by its id and the seed alone."""
    return hashlib.sha256(f"{seed}:{place.id}".encode()).digest()
