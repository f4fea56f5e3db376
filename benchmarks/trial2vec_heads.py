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
from accelerate.utils import set_seed
from trial2vec_data import Told
from trial2vec_lexical import Scores, vector_scores
from trial2vec_methods import FLAT_MODEL, OURS, Asked, rows_of

from trifuse.deploy.cli.training_trials import TrainingTrials
from trifuse.encoder.training.checkpoints import Checkpoint, open_checkpoint
from trifuse.encoder.training.entities import DictionarySource, EntitySource, concepts_of_records
from trifuse.encoder.training.trial2vec import PARTS, SMALL, train
from trifuse.encoder.training.trial2vec.cache import KeptVectors
from trifuse.encoder.training.trial2vec.dev import DevScore
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.packing import Packer
from trifuse.encoder.training.trial2vec.run import accelerator_for
from trifuse.encoder.training.trial2vec.trainer import train_contrast
from trifuse.encoder.types import Vectors
from trifuse.indexer.trial_parts import trial_parts

_ROWS = 256
_NO_CONTEXT = {part: weight for part, weight in SMALL.prior.items() if part != "context"}


@dataclass(frozen=True)
class Variant:
    """The small recipe with changes; without the part that is the context; or not trained at all."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    context: bool = True
    trained: bool = True


ABLATIONS = {
    OURS: Variant(),
    "without local loss": Variant({"local_weight": 0.0}),
    "without exchanged titles": Variant({"hard_negatives": False}),
    "without context": Variant({"prior": _NO_CONTEXT}, context=False),
    "untrained": Variant(trained=False),
}
"""The paper's figure 3: without its "semantic", its "attribute" and its "context" matching."""

DIMENSIONS = {
    OURS: Variant(),
    "256 dimensions": Variant({"dim": 256}),
    "128 dimensions": Variant({"dim": 128}),
}
"""The paper's figure 4; ours are the backbone's 384."""


def head_scores(
    asked: Asked,
    trials: TrainingTrials,
    variants: Mapping[str, Variant],
    seeds: Sequence[int],
    cache: Path,
) -> dict[str, list[Scores]]:
    """Variant to its scores, by each seed.

    Args:
        trials: to learn from, as `trifuse train trial2vec` parts them.
        cache: of the backbone's vectors.
    """
    source = DictionarySource(concepts_of_records(trials.named))
    places, found = rows_of(asked.used), {}
    with open_checkpoint(FLAT_MODEL) as start:
        for name, variant in variants.items():
            found[name] = []
            for seed in seeds if variant.trained else seeds[:1]:
                rows = head_vectors(start, trials, source, asked.used, variant, seed, cache)
                found[name].append(vector_scores(asked.queries, places, rows))
                print(f"{name}, seed {seed}: done", file=sys.stderr)
    return found


def head_vectors(
    start: Checkpoint,
    trials: TrainingTrials,
    source: EntitySource,
    shown: Sequence[Told],
    variant: Variant,
    seed: int,
    cache: Path,
) -> Vectors:
    """(n, dim) of the trials that are shown, by a head that is trained first."""
    recipe = replace(SMALL, seed=seed, **variant.changes)
    parts = train._cut([part for part in PARTS if variant.context or not part.context], recipe)
    learned, _ = train.usable(trials.learned, parts)
    draws = Draws(learned, parts, recipe, train._pairs(source, recipe))
    accelerator = accelerator_for(recipe.batch)
    set_seed(seed)
    model = train._model(start, parts, recipe).to(accelerator.device)
    kept = KeptVectors(model, Packer(start.tokenizer, parts), start.tokenizer, cache)
    score = DevScore(model, train.usable(trials.dev, parts)[0], kept.tensors)
    texts = [trial_parts(trial.source) for trial in shown]
    kept.keep([*train._all_texts(learned, score, draws, recipe), *texts])
    train._start(model, learned, kept.tensors, recipe)
    if variant.trained:
        with tempfile.TemporaryDirectory() as state:
            train_contrast(model, draws, kept.tensors, recipe, Path(state), accelerator, dev=score)
    return embedded(model, kept, texts)


@torch.no_grad()
def embedded(model: Trial2Vec, kept: KeptVectors, texts: Sequence[Mapping[str, str]]) -> Vectors:
    """(n, dim) global vectors of trials whose parts' vectors are kept."""
    model.eval()
    device = next(model.parameters()).device
    rows = []
    for start in range(0, len(texts), _ROWS):
        vectors, there = kept.tensors(texts[start : start + _ROWS])
        rows.append(model.head(vectors.to(device), there.to(device))[0].cpu().numpy())
    return np.concatenate(rows)
