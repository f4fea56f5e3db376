"""Probabilities of trials of an index, by a fitted layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.deploy.outcome.model import OutcomeModel
from trifuse.deploy.titles import title_of
from trifuse.indexer.names import may_be_id
from trifuse.indexer.stored_vectors import ServedVectors, places, read_vectors


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
        ids: only these; none, or None: all. What can be no document's id is passed over.
        query: only those that match.
    """
    only = {"ids": {"values": list(filter(may_be_id, ids))}} if ids else None
    clauses = [clause for clause in (only, query) if clause]
    template = served.space.template
    fields = sorted({field.split(".")[0] for field in template.fields})
    wanted = (place for place, _ in places(client, served, query={"bool": {"filter": clauses}}))
    layer = model.layer
    found = [
        Prediction(each.id, float(layer.predict(each.vector)), title_of(each.source, template))
        for each in read_vectors(client, wanted, source=fields)
    ]
    return sorted(found, key=lambda each: (each.probability, each.id))
