"""What a training of an adapter was, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trifuse.encoder.training.aspects.dev import DevScores, OfAspect
from trifuse.encoder.training.aspects.examples import PAPER, Sizes
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.trainer import AdapterHistory
from trifuse.encoder.training.report import ends


@dataclass(frozen=True)
class Trained:
    """One file of updates.

    Args:
        aspects: that it is for.
        sha256: of the file; the same command on the same machine gives the same one.
        loss: of every step.
        dev: Top-1, Aspect-Specific Top-1 and switching of every epoch, from 0 to 1, before training first.
        best_epoch: whose updates it has; None: the last one's, as there were no dev documents.
        dev_of_aspects: how well these updates answer each aspect on dev.
    """

    aspects: tuple[str, ...]
    sha256: str
    loss: list[float]
    dev: list[list[float]]
    best_epoch: int | None
    dev_of_aspects: Mapping[str, OfAspect]

    @classmethod
    def of(
        cls,
        aspects: tuple[str, ...],
        sha256: str,
        history: AdapterHistory,
        dev_of_aspects: Mapping[str, OfAspect],
    ) -> Trained:
        """What a history shows."""
        return cls(aspects, sha256, history.loss, history.dev, history.best_epoch, dev_of_aspects)

    def as_dict(self) -> dict[str, Any]:
        """As JSON, with the first and the last steps' means: a step's own loss is noisy."""
        scores = [DevScores(*each)._asdict() for each in self.dev]
        found = {
            "dev": scores,
            "dev_of_aspects": {aspect: of._asdict() for aspect, of in self.dev_of_aspects.items()},
            "dev_before": scores[0] if scores else None,
            "dev_best": None if self.best_epoch is None else scores[self.best_epoch],
        }
        return asdict(self) | ends(loss=self.loss) | found


@dataclass(frozen=True)
class Learned:
    """What some aspects were learned from.

    Args:
        sources: of the documents, as they say.
        documents, dev_documents: learned from, and by which the best epoch was chosen.
    """

    aspects: tuple[str, ...]
    sources: tuple[str, ...]
    documents: int
    dev_documents: int


def learned_from(
    learned: Sequence[LabelledDocument], dev: Sequence[LabelledDocument], aspects: Sequence[str]
) -> tuple[Learned, ...]:
    """The documents by the aspects that they are asked for."""
    groups = dict.fromkeys(document.asks(aspects) for document in learned)
    return tuple(
        Learned(
            asked,
            tuple(sorted({document.source for document in learned if document.asks(aspects) == asked})),
            sum(document.asks(aspects) == asked for document in learned),
            sum(document.asks(aspects) == asked for document in dev),
        )
        for asked in groups
    )


@dataclass(frozen=True)
class AspectReport:
    """What a run was, and what came of it.

    Args:
        adapter: its name.
        encoder, space: whose document vectors it was trained against.
        base: the model that encodes its queries.
        revision: a hash of all that moves a query's vector.
        recipe: the numbers and the wording that it was made by.
        documents, unusable: how many it learned from; how many were left out, because they have no title, no
            other sentence, or no aspect.
        dev_documents: by how many the best epoch was chosen.
        sizes: of what it learned from.
        learned: which aspects from what.
        sentences: whose vectors were made, once.
        device: `cpu` or `cuda`.
        seconds: of this run, by its stages; what was done before a resume isn't counted.
        trained: each file of updates.
        parity: the lowest cosine of a query's vector by the exported adapter in fp32 and by the model.
        rounded: the mean cosine by the exported adapter over the documents' own rounded encoder, and by the
            model; None where queries are encoded in fp32.
    """

    adapter: str
    encoder: str
    space: str
    base: str
    revision: str
    recipe: Recipe
    documents: int
    unusable: int
    dev_documents: int
    sizes: Sizes
    learned: tuple[Learned, ...]
    sentences: int
    device: str
    seconds: dict[str, float]
    trained: tuple[Trained, ...]
    parity: float
    rounded: float | None

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        return asdict(self) | {
            "sizes": {**asdict(self.sizes), "paper": PAPER},
            "seed": self.recipe.seed,
            "seconds_in_all": sum(self.seconds.values()),
            "trained": [each.as_dict() for each in self.trained],
        }
