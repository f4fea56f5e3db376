"""The training loop: on one processor or many (accelerate), stopped and resumed with the same result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.batches import Batch, Batcher
from trifuse.encoder.training.examples import Example, Known, cut_into
from trifuse.encoder.training.losses import in_batch_nll, triplet
from trifuse.encoder.training.recipe import Recipe, require_finite
from trifuse.encoder.training.schedule import learning_rate_factor
from trifuse.encoder.training.state import History, SavedState
from trifuse.encoder.training.towers import Towers, segments


class Step(NamedTuple):
    """What one optimizer step showed.

    Args:
        number: from 1.
        loss: β · NLL + (1 − β) · triplet, before the step.
        accuracy: share of the queries whose positive scored best among all candidates.
        seconds: since the run began, or was resumed.
    """

    number: int
    loss: float
    accuracy: float
    seconds: float


class TowersHistory(History):
    """The loss and the accuracy of every step so far."""

    def __init__(self) -> None:
        super().__init__()
        self.accuracy: list[float] = []


def accelerator_here() -> Accelerator:
    """The processors at hand; bf16 where CUDA has it, else float32."""
    bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return Accelerator(mixed_precision="bf16" if bf16 else "no")


def require_shares(batch: int, accelerator: Accelerator) -> None:
    """Raises TrainingInvalid where the processes can't share a minibatch evenly."""
    if batch % accelerator.num_processes:
        raise TrainingInvalid(
            f"batch={batch} can't be shared by {accelerator.num_processes} processes: give a multiple"
        )


def train_towers(
    towers: Towers,
    examples: Iterable[Example],
    recipe: Recipe,
    tokenizer: Path,
    state: Path,
    *,
    separator: str = "",
    known: Known | None = None,
    resume: bool = False,
    save_every: int = 500,
    on_step: Callable[[Step], None] | None = None,
    accelerator: Accelerator | None = None,
) -> TowersHistory:
    """Train the towers in place.

    Args:
        examples: at least steps × batch of them, in an order that a later run gives again.
        tokenizer: the model's `tokenizer.json`.
        state: a folder for the run's state, from which `resume` goes on.
        separator: the token between a title and its text.
        known: what is relevant to a query's text, so that it is no negative of it.
        resume: go on from the last state; without one, begin.
        save_every: steps between two states.
        on_step: told of each step, in the main process.

    Returns:
        the loss and the accuracy of every step, of what was done before a resume as well.

    Raises:
        TrainingInvalid: there are too few examples, or the batch can't be shared by the processes.
        CheckpointInvalid: the state is of another recipe.
    """
    accelerator = accelerator or accelerator_here()
    require_shares(recipe.batch, accelerator)
    set_seed(recipe.seed, device_specific=True)
    model, optimizer, schedule = _prepared(towers, recipe, accelerator)
    history = TowersHistory()
    saved = SavedState(accelerator, state, recipe, schedule, history)
    if resume:
        saved.load()
    batcher = Batcher(
        tokenizer,
        recipe,
        separator=separator,
        segments=segments(towers.document),
        known=known,
        rank=accelerator.process_index,
        processes=accelerator.num_processes,
    )
    started = time.monotonic()
    rest = cut_into(islice(examples, history.steps * recipe.batch, None), recipe.batch)
    for chosen in islice(rest, recipe.steps - history.steps):
        loss, right = _losses(model, batcher.batch(chosen), recipe, accelerator)
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        shown: Tensor = accelerator.reduce(torch.stack([loss.detach(), right]), "mean")
        for series, value in zip((history.loss, history.accuracy), shown.tolist(), strict=True):
            series.append(value)
        require_finite(history.loss[-1], history.steps)
        if on_step is not None and accelerator.is_main_process:
            on_step(Step(history.steps, history.loss[-1], history.accuracy[-1], time.monotonic() - started))
        if history.steps % save_every == 0 and history.steps < recipe.steps:
            saved.save()
    if history.steps < recipe.steps:
        raise TrainingInvalid(
            f"the examples ended after {history.steps} of {recipe.steps} steps of {recipe.batch}: give more "
            "of them, or fewer steps"
        )
    return history


def _prepared(towers: Towers, recipe: Recipe, accelerator: Accelerator) -> tuple[Any, Any, Any]:
    """The model and its optimizer, on their processors, and the schedule of the learning rate."""
    optimizer: Any = torch.optim.AdamW(
        [weight for weight in towers.parameters() if weight.requires_grad],
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    # accelerate would step a schedule that it is given once a process.
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_factor(step, recipe.warmup_steps, recipe.steps)
    )
    model, optimizer = accelerator.prepare(towers.train(), optimizer)
    return model, optimizer, schedule


def _losses(model: Any, batch: Batch, recipe: Recipe, accelerator: Accelerator) -> tuple[Tensor, Tensor]:
    """The loss of this process's queries, and the share of them whose positive scores best."""
    device = accelerator.device
    queries, documents = model(
        {name: value.to(device) for name, value in batch.queries.items()},
        {name: value.to(device) for name, value in batch.documents.items()},
    )
    positives, excluded = batch.positives.to(device), batch.excluded.to(device)
    scores = queries @ of_all(documents, accelerator).T
    nll = in_batch_nll(scores, positives, excluded)
    half = len(queries)
    margin = triplet(queries, documents[:half], documents[half:], recipe.margin)
    best = scores.detach().masked_fill(excluded, -torch.inf).argmax(dim=1)
    right = (best == positives).float().mean()
    return recipe.nll_weight * nll + (1 - recipe.nll_weight) * margin, right


def of_all(vectors: Tensor, accelerator: Accelerator, *, dim: int = 0) -> Tensor:
    """The vectors of all processes, first those of the first; gradients find their way back.

    Args:
        dim: along which they are put one behind the other.
    """
    if accelerator.num_processes == 1:
        return vectors
    from torch.distributed.nn.functional import all_gather

    return torch.cat(all_gather(vectors), dim=dim)  # type: ignore[no-untyped-call]
