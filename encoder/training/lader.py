"""LADER's dense retriever (Jin, Shin, Lu 2023, section 2.1), from a checkpoint to a model's folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trifuse.encoder.training.checkpoints import open_checkpoint
from trifuse.encoder.training.examples import Example, Known
from trifuse.encoder.training.export import QUERY_FILE, export_towers
from trifuse.encoder.training.recipe import Recipe
from trifuse.encoder.training.report import STATE_FOLDER, ends, finish_run
from trifuse.encoder.training.state import sole_run
from trifuse.encoder.training.towers import Towers
from trifuse.encoder.training.trainer import Step, accelerator_here, train_towers


@dataclass(frozen=True)
class TrainingReport:
    """What a run was, and what came of it.

    Args:
        model: the name of the model.
        checkpoint: what it started from.
        recipe: the numbers that it was made by.
        device: `cpu` or `cuda`, and how many processes shared the work.
        precision: of the computation, `no` for float32.
        seconds: of this run; what was done before a resume isn't counted.
        loss, accuracy: of every step.
        parity: the lowest cosine of a text's vector by the exported graphs and by the trained model.
    """

    model: str
    checkpoint: str
    recipe: Recipe
    device: str
    processes: int
    precision: str
    seconds: float
    loss: list[float]
    accuracy: list[float]
    parity: float

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON, with the first and the last steps' means: a step's own loss is noisy."""
        return (
            asdict(self)
            | {"steps": len(self.loss), "seed": self.recipe.seed}
            | ends(loss=self.loss, accuracy=self.accuracy)
        )


def train_lader(
    checkpoint: str,
    examples: Callable[[str], Iterable[Example]],
    recipe: Recipe,
    folder: Path,
    *,
    name: str,
    known: Known | None = None,
    resume: bool = False,
    save_every: int = 500,
    on_step: Callable[[Step], None] | None = None,
) -> TrainingReport | None:
    """Train two towers, and put a model that `load_encoder` takes into a folder.

    Args:
        checkpoint: a Hugging Face checkpoint's folder, or a model of trifuse in fp32.
        examples: given what stands between a title and its text (` [SEP] `), the examples, without end or at
            least as many as are needed; the same ones in the same order whenever it is called.
        folder: of the model; its subfolder `state` holds what a resume needs, until the model is there.
        name: of the model: part of its space's id.
        known: see `train_towers`.
        resume: go on from the last state, if there is one.
        save_every: steps between two states.
        on_step: told of each step, in the main process.

    Returns:
        the report, which also stands in the folder; None in all processes but the main one.

    Raises:
        TrainingError: the checkpoint, the examples or the saved state can't be used, or the export failed.
    """
    started = time.monotonic()
    accelerator = accelerator_here()
    with sole_run(folder, accelerator), open_checkpoint(checkpoint) as start:
        towers = Towers(
            start.transformer,
            start_scale=recipe.start_scale,
            trained_layers=recipe.trained_layers,
            gradient_checkpointing=recipe.gradient_checkpointing,
        )
        history = train_towers(
            towers,
            examples(f" {start.separator} " if start.separator else " "),
            recipe,
            start.tokenizer,
            folder / STATE_FOLDER,
            separator=start.separator,
            known=known,
            resume=resume,
            save_every=save_every,
            on_step=on_step,
            accelerator=accelerator,
        )
        if not accelerator.is_main_process:
            return None
        parity = export_towers(
            towers, start.tokenizer, start.description(name, query_model=QUERY_FILE), folder
        )
    report = TrainingReport(
        model=name,
        checkpoint=checkpoint,
        recipe=recipe,
        device=accelerator.device.type,
        processes=accelerator.num_processes,
        precision=accelerator.mixed_precision,
        seconds=time.monotonic() - started,
        loss=history.loss,
        accuracy=history.accuracy,
        parity=parity,
    )
    finish_run(folder, report)
    return report
