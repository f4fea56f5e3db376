"""What a training of Trial2Vec was, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trifuse.encoder.training.report import ends
from trifuse.encoder.training.trial2vec.recipe import Recipe


@dataclass(frozen=True)
class Trial2VecReport:
    """What a run was, and what came of it.

    Args:
        model: the name of the model.
        sha256: of its graph's file; the same command on the same machine gives the same one.
        checkpoint: what it started from.
        recipe: the numbers that it was made by.
        trials, without_text: how many it learned from; how many were left out because they have no part.
        dev_trials: how many the dev score looks for.
        device, processes: `cpu` or `cuda`, and how many processes shared the work.
        precision: of the computation, `no` for float32.
        seconds: of this run, by its stages; what was done before a resume isn't counted.
        words_loss: of every step of the masked-language-model training.
        loss, loss_trials, loss_texts, accuracy: of every step of the contrastive one: L, L_g, L_l, and the
            share of trials whose other view was the nearest of the minibatch's.
        dev: step and dev score of every look at it, at step 0 before anything was learned.
        best_step: whose weights the model has; None: the last one's, as there was no dev score.
        parity: the lowest cosine of a vector by the exported graph, in float32, and by the trained model.
        rounded: the mean cosine of a trial's vectors in int8 and in float32; None: the model is in float32.
    """

    model: str
    sha256: str
    checkpoint: str
    recipe: Recipe
    trials: int
    without_text: int
    dev_trials: int
    device: str
    processes: int
    precision: str
    seconds: dict[str, float]
    words_loss: list[float]
    loss: list[float]
    loss_trials: list[float]
    loss_texts: list[float]
    accuracy: list[float]
    dev: list[list[float]]
    best_step: int | None
    parity: float
    rounded: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON, with the first and the last steps' means: a step's own loss is noisy."""
        dev = {int(step): score for step, score in self.dev}
        return (
            asdict(self)
            | ends(loss=self.loss, accuracy=self.accuracy)
            | {
                "steps": len(self.loss),
                "seed": self.recipe.seed,
                "seconds_in_all": sum(self.seconds.values()),
                "dev_before": dev.get(0),
                "dev_best": None if self.best_step is None else dev[self.best_step],
            }
        )
