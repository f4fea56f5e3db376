"""`trifuse train trial2vec`: a model of trials from a team's own trials, without labels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifuse.deploy.cli.common import JsonOption, emit, fail, names_in, out
from trifuse.deploy.cli.load_output import show_rejected
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.cli.train_output import draw_loss, progress_bars
from trifuse.deploy.cli.training_options import (
    DATA,
    DEFAULT_CHECKPOINT,
    RECIPE,
    CheckpointOption,
    LayersOption,
    NameOption,
    OutOption,
    RateOption,
    ResumeOption,
    SaveOption,
    SeedOption,
    extra,
    model_name,
    require_room,
    resumable,
    with_options,
)
from trifuse.encoder.errors import TrainingInvalid
from trifuse.indexer.errors import PathNotFound
from trifuse.indexer.readers import Rejection, read_trials
from trifuse.indexer.readers.read import STDIN, require_path

if TYPE_CHECKING:
    from trifuse.deploy.cli.training_trials import TrainingTrials
    from trifuse.encoder.training.entities import EntitySource
    from trifuse.encoder.training.trial2vec import Trial2VecReport

_STAGES = {"words": "masked words", "parts": "encoding parts", "trials": "training"}

TrialsOption = Annotated[
    list[str],
    typer.Option(
        "--trials",
        metavar="PATH",
        help="A file, folder or zip that `trifuse load` reads; repeatable.",
        **DATA,
    ),
]
HeldOutOption = Annotated[
    str,
    typer.Option(
        "--held-out",
        help="Tenths of the trials that aren't learned from: sha256 of the id, modulo 10. By the first one "
        "it is told when to stop, the others are for measuring. `none`: learn from all, for all steps.",
        **DATA,
    ),
]
TextOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--text",
        exists=True,
        dir_okay=False,
        help="More medical text for the masked words, a paragraph a line; repeatable.",
        **DATA,
    ),
]
UmlsOption = Annotated[
    Path | None,
    typer.Option(
        "--umls",
        exists=True,
        file_okay=False,
        help="Know entities by MRCONSO.RRF and MRREL.RRF there. Without it: by the trials' own terms.",
        **DATA,
    ),
]
SmallOption = Annotated[
    bool,
    typer.Option(
        "--small",
        help="A recipe for two cores: the backbone stays as it is. Without it: the paper's.",
        **RECIPE,
    ),
]
StepsOption = Annotated[int | None, typer.Option("--steps", help="Optimizer steps at most.", **RECIPE)]
BatchOption = Annotated[int | None, typer.Option("--batch", help="Trials in a minibatch.", **RECIPE)]
DimOption = Annotated[
    int | None, typer.Option("--dim", help="Of the vectors: 128, 256, 512, 768 or the backbone's.", **RECIPE)
]
WordsOption = Annotated[
    int | None, typer.Option("--mlm-epochs", help="Of masked words beforehand; 0: none.", **RECIPE)
]
LocalOption = Annotated[
    float | None,
    typer.Option("--local-weight", help="Of the loss over exchanged entities; 0: without it.", **RECIPE),
]
Int8Option = Annotated[
    bool, typer.Option("--int8", help="Weights of 8 bits: a quarter of the size, about twice the speed.")
]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache", file_okay=False, help="Keep a frozen backbone's vectors there, for the next run too."
    ),
]


def trial2vec_command(
    trials: TrialsOption,
    out_folder: OutOption,
    held_out: HeldOutOption = "7,8,9",
    text: TextOption = None,
    umls: UmlsOption = None,
    checkpoint: CheckpointOption = DEFAULT_CHECKPOINT,
    small: SmallOption = False,
    steps: StepsOption = None,
    batch: BatchOption = None,
    learning_rate: RateOption = None,
    dim: DimOption = None,
    trained_layers: LayersOption = None,
    mlm_epochs: WordsOption = None,
    local_weight: LocalOption = None,
    seed: SeedOption = 0,
    int8: Int8Option = False,
    cache: CacheOption = None,
    resume: ResumeOption = False,
    save_every: SaveOption = 500,
    name: NameOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a Trial2Vec on your own trials: their parts to one vector each, learned without labels.

    The folder is a model then: --encoder takes it.

    On several GPUs: accelerate launch "$(which trifuse)" train trial2vec ...

    Example: [bold]trifuse train trial2vec --trials studies.json --out my-trial2vec --small[/bold]
    """
    tenths = _tenths(held_out)
    _require_paths(trials)
    require_room(out_folder, resume=resume)
    check_plot(plot)
    with extra():
        from trifuse.encoder.training.trial2vec import SMALL, Recipe, train_trial2vec
    recipe = with_options(
        SMALL if small else Recipe(),
        seed,
        steps=steps,
        batch=batch,
        learning_rate=learning_rate,
        dim=dim,
        trained_layers=trained_layers,
        mlm_epochs=mlm_epochs,
        local_weight=local_weight,
    )
    with resumable(), progress_bars() as show:
        found = _read(trials, tenths, show)
        _require_enough(found, recipe.batch)
        report = train_trial2vec(
            checkpoint,
            found.learned,
            recipe,
            out_folder,
            name=name or model_name(out_folder, "trial2vec"),
            source=_entities(found, umls) if recipe.local_weight else None,
            dev=found.dev,
            texts=_lines(text or []),
            int8=int8,
            cache=cache,
            resume=resume,
            save_every=save_every,
            progress=lambda so_far: show(_STAGES[so_far.stage], so_far.done, so_far.of, so_far.said),
        )
    if report is None:  # the main process says it
        return
    if plot is not None:
        draw_loss(report.loss, plot, title=report.model)
    rejected = len(found.rejected)
    if as_json:
        counts = {"held_out": found.held_out, "rejected": rejected}
        emit({**report.as_dict(), **counts, "folder": str(out_folder)})
    else:
        _tell(report, found, out_folder)
    if rejected:
        _fail_rejected(found.rejected)


def _tenths(given: str) -> tuple[int, ...]:
    """The tenths of an option; wrong usage where they aren't some."""
    if given.strip() == "none":
        return ()
    names = names_in(given)
    if not names or not all(len(name) == 1 and name.isdecimal() for name in names):
        raise typer.BadParameter(
            f"{given!r}: expected digits with commas between, or `none`", param_hint="--held-out"
        )
    return tuple(dict.fromkeys(int(name) for name in names))


def _require_paths(paths: list[str]) -> None:
    for path in paths:
        if path != STDIN:
            try:
                require_path(path)
            except PathNotFound as error:
                raise typer.BadParameter(str(error), param_hint="--trials") from error


def _read(
    paths: list[str], tenths: tuple[int, ...], show: Callable[[str, int, int | None, str], None]
) -> TrainingTrials:
    from trifuse.deploy.cli.training_trials import training_trials

    return training_trials(
        read_trials(paths, stdin=sys.stdin.buffer),
        tenths,
        lambda read: show("reading trials", read, None, ""),
    )


def _require_enough(found: TrainingTrials, batch: int) -> None:
    """Say where the trials have gone, where fewer are left than a minibatch takes."""
    if len(found.learned) < batch:
        more = show_rejected(found.rejected)
        raise TrainingInvalid(
            f"{len(found.learned):,} trials to train on, and batch={batch}: {len(found.dev):,} are for the "
            f"dev score, {found.held_out:,} held out, {len(found.rejected):,} rejected{more}; give more, a "
            "smaller --batch, or hold out fewer (--held-out none)"
        )


def _entities(found: TrainingTrials, umls: Path | None) -> EntitySource:
    from trifuse.encoder.training.entities import DictionarySource, concepts_of_records, read_umls

    return DictionarySource(concepts_of_records(found.named) if umls is None else read_umls(umls))


def _lines(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as stream:
            yield from stream


def _tell(report: Trial2VecReport, found: TrainingTrials, folder: Path) -> None:
    """Say for people what came of a run."""
    said = report.as_dict()
    dev = (
        "none: all steps were done"
        if report.best_step is None
        else f"{said['dev_before']:.3f} to {said['dev_best']:.3f} at step {report.best_step} (mean "
        f"reciprocal rank of the diseases of {report.dev_trials:,} trials)"
    )
    rounded = (
        ""
        if report.rounded is None
        else f"int8      {report.rounded:.4f} (mean cosine of a trial's vectors in int8 and in float32)\n"
    )
    out.print(
        f"{report.model}: {said['steps']:,} steps of {report.recipe.batch} in "
        f"{said['seconds_in_all'] / 60:.1f} minutes on {report.device}, seed {said['seed']}\n"
        f"trials    {report.trials:,} learned from, {len(found.dev):,} for the dev score, {found.held_out:,} "
        f"held out, {report.without_text:,} without text\n"
        f"loss      {said['loss_first']:.3f} to {said['loss_last']:.3f} (means of the first and last steps)\n"
        f"dev score {dev}\n"
        f"parity    {report.parity:.6f} (lowest cosine of a vector by ONNX and by torch)\n{rounded}"
        f"sha256    {report.sha256}\n"
        f"the model is in {folder}: use it with --encoder {folder}",
        markup=False,
        soft_wrap=True,
    )


def _fail_rejected(rejected: list[Rejection]) -> None:
    more = show_rejected(rejected)
    fail(f"the model is there, but {len(rejected):,} records weren't learned from: they were rejected{more}")
