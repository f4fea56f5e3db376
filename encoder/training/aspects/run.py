"""One run: a base's query encoder gets updates, for all aspects or for one, and learns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from accelerate.utils import set_seed

from trifuse.encoder.description import TOKENIZER_FILE, ModelFolder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.dev import OfAspect, dev_of_aspects
from trifuse.encoder.training.aspects.given import digest
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.trainer import AdapterHistory, AdapterStep, train_adapter
from trifuse.encoder.training.checkpoints import open_checkpoint
from trifuse.encoder.training.towers import segments
from trifuse.encoder.types import Vectors

Progress = Callable[[str, int, int, str], None]
"""Told of a stage (`sentences`, `training`), how far it has come, of how many, and a word on it."""


@dataclass(frozen=True)
class Run:
    """What every run of a training has in common.

    Args:
        base: a name, or a folder; `model` is what stands there.
        space: of the documents' vectors.
        learned, dev: documents to learn from, and to choose the best epoch by.
        vectors: of all candidates' texts.
    """

    base: str
    model: ModelFolder
    space: EncoderSpace
    recipe: Recipe
    learned: Sequence[LabelledDocument]
    dev: Sequence[LabelledDocument]
    vectors: Mapping[str, Vectors]

    def as_dict(self) -> dict[str, Any]:
        """What must be the same when it is resumed."""
        moving = {"base": self.model.space.id, "space": self.space.id}
        return self.recipe.as_dict() | moving | {"documents": digest(self.learned, self.dev)}

    def train(
        self,
        asked: tuple[str, ...],
        state: Path,
        accelerator: Accelerator,
        *,
        resume: bool,
        save_every: int,
        progress: Progress,
    ) -> tuple[QueryTower, AdapterHistory, dict[str, OfAspect]]:
        """Updates for some aspects, what the steps showed, and how well each aspect is answered on dev.

        Raises:
            CheckpointInvalid, TrainingInvalid: as `train_adapter` and `QueryTower`.
        """
        set_seed(self.recipe.seed)
        with open_checkpoint(self.base) as start:
            tower = QueryTower(
                start.transformer, self.space.pooling, self.recipe, normalized=self.space.normalized
            )
        tower.to(accelerator.device).eval()
        stage = "training" if len(asked) > 1 else f"training {asked[0]}"

        def show(step: AdapterStep) -> None:
            epochs = self.recipe.epochs
            said = f"epoch {math.ceil(step.number * epochs / step.steps)} of {epochs}, loss {step.loss:.3f}"
            if step.dev is not None:
                said += ", dev " + " / ".join(f"{100 * share:.1f}" for share in step.dev) + " %"
            progress(stage, step.number, step.steps, said)

        dev = self._asked(self.dev, asked, tower) if self.dev else None
        history = train_adapter(
            tower,
            self._asked(self.learned, asked, tower),
            self.recipe,
            state,
            accelerator,
            self,
            dev=dev,
            resume=resume,
            save_every=save_every,
            on_step=show,
        )
        return tower, history, dev_of_aspects(tower, dev) if dev is not None else {}

    def _asked(
        self, documents: Sequence[LabelledDocument], asked: tuple[str, ...], tower: QueryTower
    ) -> AskedDocuments:
        cut = min(self.recipe.query_tokens, self.model.description.max_tokens)
        return AskedDocuments(
            [document for document in documents if document.asks(asked)],
            asked,
            self.vectors,
            tower,
            TextTokenizer(self.model.path / TOKENIZER_FILE, cut),
            self.recipe,
            segments=segments(tower.transformer),
        )
