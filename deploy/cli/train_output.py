"""What `trifuse train` shows: progress, the outcome, the loss as a plot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import out

if TYPE_CHECKING:
    from trifuse.encoder.training import TrainingReport


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr, and what to tell it: how many are done, and a word on them."""
    with progress_bars() as show:
        show(what, 0, total, "")
        yield lambda done, said: show(what, done, total, said)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None, str], None]]:
    """A bar on stderr for each stage, and what to tell of it: how many are done, of how many, and a word."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Bars(*columns) as progress:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, of: int | None, said: str) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=of, said=said)
            progress.update(tasks[stage], completed=done, total=of, said=said)

        yield show


def tell(report: TrainingReport, folder: Path) -> None:
    """Say for people what came of a run."""
    said = report.as_dict()
    out.print(
        f"{report.model}: {said['steps']:,} steps of {report.recipe.batch} in "
        f"{report.seconds / 60:.1f} minutes on {report.device}, seed {said['seed']}\n"
        f"loss      {said['loss_first']:.3f} to {said['loss_last']:.3f} (means of the first and last steps)\n"
        f"accuracy  {said['accuracy_first']:.3f} to {said['accuracy_last']:.3f} (a query's positive first of "
        f"{2 * report.recipe.batch} candidates)\n"
        f"parity    {report.parity:.6f} (lowest cosine of a vector by ONNX and by torch)\n"
        f"the model is in {folder}: use it with --encoder {folder}",
        markup=False,
        soft_wrap=True,
    )


def draw_loss(loss: Sequence[float], path: Path, *, title: str) -> None:
    """Draw the loss of each step, and its running mean."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    window = max(1, len(loss) // 20)
    means = [sum(loss[max(0, end - window) : end]) / min(window, end) for end in range(1, len(loss) + 1)]
    steps = range(1, len(loss) + 1)
    axes.plot(steps, loss, color="0.8", linewidth=1, label="each step")
    axes.plot(steps, means, linewidth=2, label=f"mean of {window} steps")
    axes.set_xlabel("optimizer step")
    axes.set_ylabel("loss")
    axes.set_title(title)
    axes.legend()
    figure.savefig(path, dpi=150)
