"""Labelled trials from an index: their vectors, and on request the texts that these were made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from opensearchpy import OpenSearch

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome.labels import TELLING, Label, Outcomes
from trifuse.deploy.outcome.measures import Labels
from trifuse.deploy.outcome.split import Split, split_of
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate, build_text, values_at
from trifuse.encoder.types import Vectors
from trifuse.indexer.stored_vectors import Place, ServedVectors, places, read_vectors

Progress = Callable[[int, str], None]
"""Told how many are done, and a word on them."""


@dataclass(frozen=True)
class LabelledTrials:
    """Trials with both a label and a vector, in an order that is the same at every reading.

    Args:
        ids: n ids.
        vectors: (n, dimension) float32.
        positive: (n,) bool.
        splits: n parts.
        texts: n texts that the vectors were made of, parts and all as one plain text; () unless asked for.
    """

    ids: Sequence[str]
    vectors: Vectors
    positive: Labels
    splits: Sequence[Split]
    texts: Sequence[str]

    def part(self, split: Split) -> Labels:
        """(n,) bool, which trials belong to a part."""
        return np.array([found == split for found in self.splits], dtype=np.bool_)


def require_untold(space: Space, field: str | None) -> None:
    """Refuse vectors of a text that tells the outcome.

    Args:
        field: the field that labels are read from.

    Raises:
        OutcomeInvalid: naming the fields.
    """
    telling = {*TELLING, *filter(None, [field])}
    told = sorted(
        {path for path in space.template.fields if path.split(".")[0] in telling or path in telling}
    )
    if told:
        raise OutcomeInvalid(
            f"the vectors were made from {', '.join(told)}, which tells how a trial ended: what is learned "
            "from them predicts nothing; embed the index without that field (`trifuse reembed --text`)"
        )


def labels_in(
    client: OpenSearch, served: ServedVectors, field: str, outcomes: Outcomes
) -> list[tuple[Place, Label]]:
    """The labelled trials of an index, by a field of theirs; of several values the first that is a label."""
    found = []
    for place, source in places(client, served, source=[field]):
        said = (outcomes.of(value) for value in values_at(source, field.split(".")))
        positive = next((each for each in said if each is not None), None)
        if positive is not None:
            found.append((place, Label(positive)))
    return found


def labels_from(
    client: OpenSearch, served: ServedVectors, labels: Mapping[str, Label]
) -> list[tuple[Place, Label]]:
    """The trials of an index that a file has labels for, by their ids."""
    return [(place, labels[place.id]) for place, _ in places(client, served) if place.id in labels]


def read_trials(
    client: OpenSearch,
    served: ServedVectors,
    labelled: Sequence[tuple[Place, Label]],
    *,
    with_texts: bool = False,
    progress: Progress = lambda done, said: None,
) -> LabelledTrials:
    """The vectors of labelled trials, and their texts.

    Raises:
        OutcomeInvalid: there is none.
    """
    wanted = sorted(labelled, key=lambda each: (each[0].index, each[0].id, each[0].routing or ""))
    by_place = {(place.index, place.id): label for place, label in wanted}
    template = plain(served.space.template)
    source = sorted({field.split(".")[0] for field in template.fields}) if with_texts else []
    ids: list[str] = []
    labels: list[Label] = []
    rows = np.empty((len(wanted), served.space.encoder.dimension), dtype=np.float32)
    texts = []
    for stored in read_vectors(client, (place for place, _ in wanted), source=source):
        rows[len(ids)] = stored.vector
        ids.append(stored.id)
        labels.append(by_place[stored.index, stored.id])
        if with_texts:
            texts.append(build_text(stored.source, template))
        progress(len(ids), "")
    if not ids:
        raise OutcomeInvalid(
            "no trial has both a vector and a label: check --label-field, --positive and --negative, or that "
            "the ids of --labels are those of the index"
        )
    return LabelledTrials(
        ids,
        rows[: len(ids)],
        np.array([label.positive for label in labels], dtype=np.bool_),
        [label.split or split_of(each) for each, label in zip(ids, labels, strict=True)],
        texts,
    )


def plain(template: TextTemplate) -> TextTemplate:
    """A template's fields as one plain text, as an encoder without parts would get them."""
    return TextTemplate(template.fields, max_chars=template.max_chars)
