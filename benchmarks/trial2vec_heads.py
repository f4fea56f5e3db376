"""Heads of Trial2Vec that are trained on kept vectors, each by the small recipe with something changed.

The backbone is frozen in that recipe, so that its vectors of parts are made once for all of them; what the
head gives by torch is what the exported graph gives (the export checks it). `--cache` may be the one that
`trifuse train trial2vec --small --cache` has filled.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from trial2vec_lexical import Scores
from trial2vec_methods import FLAT_MODEL, HIDDEN, OURS, Asked, Embed, ours, unnamed
from trial2vec_protocol import HELD_OUT

from trifuse.deploy.cli.training_trials import TrainingTrials, training_trials
from trifuse.encoder.training.checkpoints import Checkpoint, open_checkpoint
from trifuse.encoder.training.entities import DictionarySource, EntitySource, concepts_of_records
from trifuse.encoder.training.trial2vec import PARTS, SMALL
from trifuse.encoder.training.trial2vec.learn import Learned, learn, usable
from trifuse.encoder.training.trial2vec.run import accelerator_for
from trifuse.encoder.types import Vectors
from trifuse.indexer.readers import read_trials

_ROWS = 256
_NO_CONTEXT = {part: weight for part, weight in SMALL.prior.items() if part != "context"}


@dataclass(frozen=True)
class Variant:
    """The small recipe with changes, and without the part that is the context.

    Args:
        trained: False where the changes leave nothing to learn, so that one seed is all.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    context: bool = True
    trained: bool = True


ABLATIONS = {
    OURS: Variant(),
    "without local loss": Variant({"local_weight": 0.0}),
    "without exchanged titles": Variant({"hard_negatives": False}),
    "without context": Variant({"prior": _NO_CONTEXT}, context=False),
    "even weights": Variant({"prior": {}}),
    "views by dropout": Variant({"views": "dropout"}),
    "untrained": Variant(
        {"learning_rate": 0.0, "steps": 1, "warmup_steps": 0, "local_weight": 0.0}, trained=False
    ),
}
"""The paper's figure 3: without its "semantic", its "attribute" and its "context" matching. The next two are
what the small recipe has of its own: the parts' weights and the views.
"""

DIMENSIONS = {
    OURS: Variant(),
    "256 dimensions": Variant({"dim": 256}),
    "128 dimensions": Variant({"dim": 128}),
}
"""The paper's figure 4; ours are the backbone's 384."""


class Heads:
    """Trains heads on the trials of a file.

    Args:
        corpus: what `trifuse train trial2vec --trials` takes.
        cache: of the backbone's vectors.
    """

    def __init__(self, corpus: Path, cache: Path) -> None:
        self._trials = training_trials(read_trials([corpus]), HELD_OUT)
        self._source = DictionarySource(concepts_of_records(self._trials.named))
        self._cache = cache

    def models(self, seeds: Sequence[int], variant: Variant = Variant()) -> Iterator[Embed]:
        """A model for each seed; of a variant that learns nothing, one."""
        with open_checkpoint(FLAT_MODEL) as start:
            for seed in seeds if variant.trained else seeds[:1]:
                head = learned(start, self._trials, self._source, variant, seed, self._cache)
                print(f"seed {seed}: best at step {head.history.best_step}", file=sys.stderr)
                yield partial(embedded, head)

    def scores(
        self, asked: Asked, variants: Mapping[str, Variant], seeds: Sequence[int]
    ) -> dict[str, list[Scores]]:
        """Variant to its scores by each seed, where all is seen and where no condition is."""
        hidden = unnamed(asked)
        found: dict[str, list[Scores]] = {}
        for name, variant in variants.items():
            print(name, file=sys.stderr)
            for model in self.models(seeds, variant):
                found.setdefault(name, []).extend(ours(asked, [model]))
                found.setdefault(f"{name}{HIDDEN}", []).extend(ours(hidden, [model]))
        return found


def learned(
    start: Checkpoint,
    trials: TrainingTrials,
    source: EntitySource,
    variant: Variant,
    seed: int,
    cache: Path,
) -> Learned:
    """A head that is trained on some trials, as `trifuse train trial2vec --small` does it."""
    recipe = replace(SMALL, seed=seed, **variant.changes)
    parts = [part for part in PARTS if variant.context or not part.context]
    with tempfile.TemporaryDirectory() as state:
        return learn(
            start,
            usable(trials.learned, parts)[0],
            recipe,
            Path(state),
            accelerator_for(recipe.batch),
            source=source,
            dev=usable(trials.dev, parts)[0],
            parts=parts,
            cache=cache,
        )


@torch.no_grad()
def embedded(head: Learned, texts: Sequence[Mapping[str, str]]) -> Vectors:
    """(n, dim) global vectors of trials, by their parts."""
    if head.kept is not None:
        head.kept.keep(texts)
    head.model.eval()
    device = next(head.model.parameters()).device
    rows = []
    for start in range(0, len(texts), _ROWS):
        vectors, there = head.as_tensors(texts[start : start + _ROWS])
        rows.append(head.model.head(vectors.to(device), there.to(device))[0].cpu().numpy())
    return np.concatenate(rows)
