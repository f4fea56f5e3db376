"""Heads of Trial2Vec that are trained on kept vectors, each by the small recipe with something changed.

The backbone is frozen in that recipe, so that its vectors of parts are made once for all of them; what the
head gives by torch is what the exported graph gives (the export checks it). `--cache` may be the one that
`trifuse train trial2vec --small --cache` has filled.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from trial2vec_lexical import Scores, vector_scores
from trial2vec_methods import FLAT_MODEL, OURS, Asked, rows_of

from trifuse.deploy.cli.training_trials import TrainingTrials
from trifuse.encoder.training.checkpoints import Checkpoint, open_checkpoint
from trifuse.encoder.training.entities import DictionarySource, EntitySource, concepts_of_records
from trifuse.encoder.training.trial2vec import PARTS, SMALL
from trifuse.encoder.training.trial2vec.learn import Learned, learn, usable
from trifuse.encoder.training.trial2vec.run import accelerator_for
from trifuse.encoder.types import Vectors
from trifuse.indexer.trial_parts import trial_parts

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


def head_scores(
    asked: Mapping[str, Asked],
    trials: TrainingTrials,
    variants: Mapping[str, Variant],
    seeds: Sequence[int],
    cache: Path,
) -> dict[str, list[Scores]]:
    """Variant to its scores, by each seed.

    Args:
        asked: the same queries, by the endings that methods' names get.
        trials: to learn from, as `trifuse train trial2vec` parts them.
        cache: of the backbone's vectors.
    """
    source = DictionarySource(concepts_of_records(trials.named))
    found: dict[str, list[Scores]] = {}
    with open_checkpoint(FLAT_MODEL) as start:
        for name, variant in variants.items():
            for seed in seeds if variant.trained else seeds[:1]:
                head = learned(start, trials, source, variant, seed, cache)
                for ending, each in asked.items():
                    rows = embedded(head, [trial_parts(trial.source) for trial in each.used])
                    scores = vector_scores(each.queries, rows_of(each.used), rows)
                    found.setdefault(name + ending, []).append(scores)
                print(f"{name}, seed {seed}: {head.history.best_step} steps", file=sys.stderr)
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
