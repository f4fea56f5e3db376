"""Probabilities of trials of an index, by a fitted layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from opensearchpy import OpenSearch

from trifuse.deploy.outcome.model import OutcomeModel
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.indexer.stored_vectors import ServedVectors, StoredVector, places, read_vectors

_AT_ONCE = 1000


class Prediction(msgspec.Struct, frozen=True):
    """A trial and the probability that it ends well."""

    id: str
    probability: float
    title: str = ""


def predict(
    client: OpenSearch,
    served: ServedVectors,
    model: OutcomeModel,
    *,
    ids: Sequence[str] | None = None,
    query: Mapping[str, Any] | None = None,
) -> list[Prediction]:
    """The probabilities of trials that match, the least first; of those that have a vector.

    Args:
        served: of the model's own space (`OutcomeModel.require_space`).
        ids: only these; None: all.
        query: only those that match.
    """
    clauses = [clause for clause in ({"ids": {"values": list(ids)}} if ids else None, query) if clause]
    title = served.space.template.fields[0]
    wanted = (place for place, _ in places(client, served, query={"bool": {"filter": clauses}}))
    stored = read_vectors(client, wanted, source=[title.split(".")[0]])
    found = [each for batch in _batches(stored) for each in _predicted(model, batch, title)]
    return sorted(found, key=lambda each: (each.probability, each.id))


def _batches(stored: Iterator[StoredVector]) -> Iterator[list[StoredVector]]:
    while batch := list(islice(stored, _AT_ONCE)):
        yield batch


def _predicted(model: OutcomeModel, batch: Sequence[StoredVector], title: str) -> Iterator[Prediction]:
    probabilities = model.layer.predict(np.stack([each.vector for each in batch]))
    for each, probability in zip(batch, probabilities.tolist(), strict=True):
        yield Prediction(each.id, probability, build_text(each.source, TextTemplate((title,))))
