"""`trifuse aspect`: how well queries follow the aspect that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifuse.deploy.cli.aspect_documents import of_split, read_documents
from trifuse.deploy.cli.aspect_output import asked_line, evaluation_json, evaluation_table
from trifuse.deploy.cli.common import EncoderOption, JsonOption, emit, out, plain_encoder, print_lines, say
from trifuse.deploy.cli.train_output import progress_bar
from trifuse.encoder.aspects import ASPECTS, INSTRUCTIONS
from trifuse.encoder.errors import AspectUnknown, LabelsInvalid
from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder
from trifuse.encoder.types import Encoder
from trifuse.ranker.evaluation.asking import Ask, asked_documents, generic, instructed, sentence_vectors
from trifuse.ranker.evaluation.aspects import evaluate_aspects
from trifuse.ranker.evaluation.significance import SEED

if TYPE_CHECKING:
    from trifuse.encoder.adapters import AspectEncoder

_LEFT_OUT = {
    "incomplete": "documents aren't annotated whole, or have no abstract, and were left out",
    "without_candidates": "documents have no sentence after their title, and were left out",
    "unreadable_sentences": "sentences hold nothing that can be read: they are never found",
}

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        exists=True,
        help="Labelled tokens: JSON lines (pmid, tokens, labels), or the folder of an EBM-NLP release; that "
        "of Evidence Inference for the comparator.",
    ),
]
AdapterOption = Annotated[
    str | None,
    typer.Option("--adapter", help="An adapter's name or folder. Without it: one for the encoder, if any."),
]
SplitOption = Annotated[
    str | None,
    typer.Option("--split", help="Only documents of this split. Without it: test, if there is one."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of the intervals.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        name="aspect", help="How well queries follow the aspect that they ask for.", no_args_is_help=True
    )
    group.callback()(_group)
    group.command("evaluate")(evaluate_command)
    app.add_typer(group)


def _group() -> None:
    """How well queries follow the aspect that they ask for: population, intervention, outcome, comparator."""


def evaluate_command(
    file: FileArgument,
    adapter: AdapterOption = None,
    encoder: EncoderOption = None,
    split: SplitOption = None,
    seed: SeedOption = SEED,
    as_json: JsonOption = False,
) -> None:
    """Ask each document for each aspect, and see which of its sentences comes first.

    A document's first sentence is its title: the topic of its queries, and no candidate. Each aspect is
    asked for where the file labels it.

    Example: [bold]trifuse aspect evaluate pio_tokens.jsonl.gz[/bold]
    """
    left_out: list[str] = []
    documents = of_split(read_documents(file, left_out.append), split)
    asked = [aspect for aspect in ASPECTS if any(document.asks([aspect]) for document in documents)]
    if any(document.candidates for document in documents) and not any(
        sentence.aspects for document in documents for sentence in document.candidates
    ):
        raise LabelsInvalid(
            f"{file}: no sentence after a title is labelled: there is nothing to judge by; labels are "
            "letters of P, I, O and C"
        )
    lora = _adapter(adapter, encoder, asked)
    base = _base(encoder or (lora.space.encoder if lora else DEFAULT_ENCODER), lora)
    labels = [[sentence.aspects for sentence in document.candidates] for document in documents]
    aspects = [aspect for aspect in (lora.aspects if lora else asked) if aspect in asked]
    if lora is not None and not aspects:
        raise AspectUnknown(
            f"the adapter {lora.name!r} knows {', '.join(lora.aspects)}, and {file} is labelled for "
            f"{', '.join(asked)}: give another (--adapter)"
        )

    texts = [[sentence.text for sentence in document.candidates] for document in documents]
    with progress_bar("encoding sentences", sum(map(len, texts))) as show:
        vectors, unreadable = sentence_vectors(base, texts, lambda done: show(done, ""))
    titles = [document.title for document in documents]
    methods = {
        name: evaluate_aspects(
            asked_documents(ask, titles, labels, vectors, aspects), aspects, beside=ASPECTS, seed=seed
        )
        for name, ask in _ways(base, lora).items()
    }

    left = {
        "incomplete": len(left_out),
        "without_candidates": methods["generic"].without_candidates,
        "unreadable_sentences": unreadable,
    }
    if as_json:
        emit(
            {
                "file": str(file),
                "encoder": base.space.encoder,
                "space": base.space.id,
                "adapter": lora.name if lora else None,
                "aspects": aspects,
                "left_out": left,
                "methods": {name: evaluation_json(found) for name, found in methods.items()},
            }
        )
    else:
        said = f"{base.space.encoder} and {lora.name}" if lora else base.space.encoder
        print_lines([asked_line(methods["generic"], said)])
        out.print(evaluation_table(methods))
    for what, number in left.items():
        if number:
            say(f"{number:,} {_LEFT_OUT[what]}", "yellow")
    if lora is None:
        said = f"{base.space.encoder} that knows {' or '.join(asked)}"
        say(f"no adapter is known for {said}: name one with --adapter to compare it", "yellow")
    elif unknown := ", ".join(aspect for aspect in asked if aspect not in aspects):
        say(f"not asked for, though labelled: {unknown}, which {lora.name} doesn't know", "yellow")


def _adapter(named: str | None, encoder: str | None, asked: Sequence[str]) -> AspectEncoder | None:
    """The adapter that was named, else the first one known for the encoder's space and for what is asked."""
    from trifuse.encoder.adapter_files import find_adapter
    from trifuse.encoder.adapters import adapters_for, load_adapter

    if named is not None:
        return load_adapter(named)
    for known in adapters_for(describe_encoder(encoder or DEFAULT_ENCODER)):
        if not {*asked}.isdisjoint(find_adapter(known).description.aspects):
            return load_adapter(known)
    return None


def _base(name: str, lora: AspectEncoder | None) -> Encoder:
    """The encoder of the sentences.

    Raises:
        SpaceMismatch: the adapter was trained against another encoder's vectors.
    """
    base = plain_encoder(name, "--encoder")
    if lora is not None:
        lora.adapter.require_space(base.space)
    return base


def _ways(base: Encoder, lora: AspectEncoder | None) -> dict[str, Ask]:
    instructions = lora.adapter.description.instructions if lora else INSTRUCTIONS
    ways = {"generic": generic(base), "instruction": instructed(base, instructions)}
    return {**ways, "lora": lora.encode_queries} if lora else ways
