"""`trifuse train aspect`: queries that ask for one aspect of a document, on vectors that stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifuse.deploy.cli.common import JsonOption, emit, err, out, say
from trifuse.deploy.cli.train_output import progress_bars
from trifuse.deploy.cli.training_options import (
    DATA,
    RECIPE,
    LayersOption,
    OutOption,
    RateOption,
    ResumeOption,
    SaveOption,
    SeedOption,
    checked_name,
    extra,
    model_name,
    require_room,
    resumable,
    with_options,
)
from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.registry import DEFAULT_ENCODER

if TYPE_CHECKING:
    from trifuse.encoder.training.aspects.recipe import Recipe
    from trifuse.encoder.training.aspects.report import AspectReport, Trained
    from trifuse.encoder.training.aspects.splits import Splits

_STAGES = {"sentences": "encoding sentences"}
_INCOMPLETE = "not annotated whole, or no abstract"

DataOption = Annotated[
    list[Path],
    typer.Option(
        "--data",
        exists=True,
        metavar="FILE",
        help="Labelled tokens: JSON lines (pmid, tokens, labels), or the folder of an EBM-NLP release; that "
        "of Evidence Inference for the comparator. Repeatable: each aspect is learned from what labels it. "
        "Documents that say `test` aren't learned from.",
        **DATA,
    ),
]
NoisyOption = Annotated[
    bool,
    typer.Option("--noisy/--no-noisy", help="Learn from sources whose labels are less sure too.", **DATA),
]
EncoderOption = Annotated[
    str,
    typer.Option("--encoder", help="Whose vectors of documents it is for: a name, or a folder.", **RECIPE),
]
BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        help="The model in fp32 that encodes queries. Without it: the encoder, or what it was made from.",
        **RECIPE,
    ),
]
EpochsOption = Annotated[int | None, typer.Option("--epochs", help="Passes over the documents.", **RECIPE)]
BatchOption = Annotated[int | None, typer.Option("--batch", help="Documents in a minibatch.", **RECIPE)]
RankOption = Annotated[int | None, typer.Option("--rank", help="Of the updates.", **RECIPE)]
PerAspectOption = Annotated[
    bool,
    typer.Option("--per-aspect", help="Updates for each aspect alone. Without it: for all.", **RECIPE),
]
CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", file_okay=False, help="Keep sentences' vectors there, for the next run too."),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", help="The adapter's name. Without it: the folder's.", callback=checked_name),
]


def aspect_command(
    data: DataOption,
    out_folder: OutOption,
    noisy: NoisyOption = False,
    encoder: EncoderOption = DEFAULT_ENCODER,
    base: BaseOption = None,
    epochs: EpochsOption = None,
    batch: BatchOption = None,
    learning_rate: RateOption = None,
    rank: RankOption = None,
    trained_layers: LayersOption = None,
    per_aspect: PerAspectOption = False,
    seed: SeedOption = 0,
    cache: CacheOption = None,
    resume: ResumeOption = False,
    save_every: SaveOption = 100,
    name: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train an adapter of queries that ask for one aspect: population, intervention, outcome, comparator.

    Only the query encoder is adapted, against the vectors that documents
    have: nothing is embedded anew. The folder is an adapter then:
    --adapter takes it.

    Example: [bold]trifuse train aspect --data pio_tokens.jsonl.gz --out my-aspects[/bold]
    """
    require_room(out_folder, resume=resume)
    with extra():
        from trifuse.encoder.training.aspects.recipe import Recipe
        from trifuse.encoder.training.aspects.train import train_aspects
    from trifuse.deploy.cli.aspect_documents import read_several
    from trifuse.encoder.training.aspects.splits import split_documents

    recipe = with_options(
        Recipe(),
        seed,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        rank=rank,
        trained_layers=trained_layers,
        per_aspect=per_aspect or None,
    )
    incomplete: list[str] = []
    documents = read_several(data, incomplete.append)
    splits = split_documents(documents, noisy=noisy)
    if not splits.train:
        raise LabelsInvalid(_nothing(splits, len(incomplete)))
    err.print("\n".join(_sizes(splits, recipe)), markup=False, soft_wrap=True)
    with resumable(), progress_bars() as show:
        report = train_aspects(
            encoder,
            splits.train,
            recipe,
            out_folder,
            name=name or model_name(out_folder, "aspects"),
            base=base,
            dev=splits.dev,
            cache=cache,
            resume=resume,
            save_every=save_every,
            progress=lambda stage, done, of, said: show(_STAGES.get(stage, stage), done, of, said),
        )
    left_out = dict(splits.left_out) | ({_INCOMPLETE: len(incomplete)} if incomplete else {})
    if as_json:
        test = len(splits.test)
        emit({**report.as_dict(), "test_documents": test, "left_out": left_out, "folder": str(out_folder)})
        return
    _tell(report, len(splits.test), out_folder)
    for why, count in left_out.items():
        say(f"{count:,} documents were left out: {why}", "yellow")


def _nothing(splits: Splits, incomplete: int) -> str:
    """Why there is no document to learn from."""
    counted = {"for dev": len(splits.dev), "for a test": len(splits.test), **splits.left_out}
    counted[_INCOMPLETE] = incomplete
    found = ", ".join(f"{count:,} {what}" for what, count in counted.items() if count) or "none at all"
    return f"there is no document to learn from ({found}): give data of the split `train` (--data)"


def _sizes(splits: Splits, recipe: Recipe) -> list[str]:
    """How much there is to learn from, beside what the study had that this follows."""
    from trifuse.encoder.training.aspects.examples import PAPER, sizes_of
    from trifuse.encoder.training.aspects.given import aspects_of, usable

    learned, _ = usable(splits.train, recipe)
    sizes = sizes_of(learned, aspects_of(learned, recipe))
    having = [f"{aspect} {count:,} ({sizes.alone[aspect]:,} alone)" for aspect, count in sizes.having.items()]
    return [
        f"documents {sizes.documents:,} to learn from, {len(splits.dev):,} for dev, {len(splits.test):,} for "
        f"a test (the paper: {PAPER['train']:,}, {PAPER['dev']:,}, {PAPER['test']:,})",
        f"sentences {sizes.sentences:,}: {', '.join(having)}",
        f"examples  {sizes.examples:,} of {sizes.requests:,} requests: a sentence that answers, and two that "
        f"don't (the paper: {PAPER['examples']:,})",
    ]


def _tell(report: AspectReport, test: int, folder: Path) -> None:
    """Say for people what came of a run."""
    said = report.as_dict()
    minutes = said["seconds_in_all"] / 60
    out.print(
        f"{report.adapter} for the space {report.space}: {report.recipe.epochs} epochs in {minutes:.1f} "
        f"minutes on {report.device}, seed {said['seed']}\n"
        f"documents {report.documents:,} learned from, {report.dev_documents:,} for dev, {test:,} kept for a "
        f"test, {report.unusable:,} without a title, another sentence or an aspect",
        markup=False,
        soft_wrap=True,
    )
    lines = [
        f"learned   {', '.join(each.aspects)} from {each.documents:,} documents, {each.dev_documents:,} for "
        f"dev ({', '.join(filter(None, each.sources)) or 'no source named'})"
        for each in report.learned
    ]
    for trained in report.trained:
        lines += _lines(trained)
    out.print("\n".join(lines), markup=False, soft_wrap=True)
    rounded = (
        "" if report.rounded is None else f"; in the documents' precision {report.rounded:.4f} on average"
    )
    out.print(
        f"parity    {report.parity:.6f} (lowest cosine of a query's vector by ONNX and by torch){rounded}\n"
        f"the adapter is in {folder}: use it with --adapter {folder}",
        markup=False,
        soft_wrap=True,
    )


def _lines(trained: Trained) -> list[str]:
    said = trained.as_dict()
    found = [
        f"asks for  {', '.join(trained.aspects)} (sha256 {trained.sha256})",
        f"loss      {said['loss_first']:.3f} to {said['loss_last']:.3f} (means of the first and last steps)",
    ]
    if said["dev_best"] is None:
        return [*found, "dev       none: all epochs were done"]
    shares = ", ".join(
        f"{share} {100 * said['dev_before'][share]:.1f} to {100 * value:.1f} %"
        for share, value in said["dev_best"].items()
    )
    found.append(f"dev       {shares} at epoch {trained.best_epoch}")
    return found + [
        f"          {aspect}: top1 {100 * of.top1:.1f}, specific {100 * of.specific:.1f} % of {of.requests:,}"
        for aspect, of in trained.dev_of_aspects.items()
    ]
