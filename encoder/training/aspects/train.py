"""A query adapter from labelled documents: for an encoder whose document vectors stay as they are."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from trifuse.encoder.adapter_files import find_adapter
from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid
from trifuse.encoder.registry import load_encoder, open_model
from trifuse.encoder.training.aspects.examples import sizes_of
from trifuse.encoder.training.aspects.export import export_adapter
from trifuse.encoder.training.aspects.given import aspects_of, base_of, require_alike, usable
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.report import AspectReport, Trained, learned_from
from trifuse.encoder.training.aspects.run import Progress, Run
from trifuse.encoder.training.aspects.vectors import sentence_vectors
from trifuse.encoder.training.report import STATE_FOLDER, finish_run
from trifuse.encoder.training.state import sole_run
from trifuse.encoder.training.trainer import accelerator_here
from trifuse.encoder.types import Vectors

_COMPARED = 8  # titles whose vectors are compared, beside texts of ours


def train_aspects(
    encoder: str,
    documents: Iterable[LabelledDocument],
    recipe: Recipe,
    folder: Path,
    *,
    name: str,
    base: str | None = None,
    dev: Iterable[LabelledDocument] = (),
    cache: Path | None = None,
    resume: bool = False,
    save_every: int = 500,
    progress: Progress = lambda stage, done, of, said: None,
) -> AspectReport:
    """Train an adapter, and put what `load_adapter` takes into a folder.

    Args:
        encoder: whose document vectors it is for: a name, or a model's folder.
        documents: to learn from; those without a title, another sentence or an aspect are left out.
        folder: of the adapter; its subfolder `state` holds what a resume needs, until the adapter is there.
        name: of the adapter.
        base: the model in fp32 that encodes its queries; None: the encoder itself, or the known one that it
            was rounded from.
        dev: documents that aren't learned from, by which the best epoch is chosen; none: all epochs are done.
        cache: a folder for sentences' vectors, so that other runs find them; None: in `state`.
        resume: go on from the last state, if there is one.
        save_every: steps between two states.
        progress: told how far it has come.

    Raises:
        TrainingError: the base, the documents or the saved state can't be used, or the export failed.
    """
    began = time.monotonic()
    accelerator = accelerator_here()
    if accelerator.num_processes > 1:
        raise TrainingInvalid(f"an adapter is trained by one process, not by {accelerator.num_processes}")
    learned, unusable = usable(documents, recipe)
    aspects = aspects_of(learned, recipe)
    held, _ = usable(dev, recipe)
    documents_encoder = load_encoder(encoder)
    space = documents_encoder.space
    base = base or base_of(encoder)
    model = open_model(base)
    require_alike(model.space, base, space)
    state = folder / STATE_FOLDER
    runs = [(each,) for each in aspects] if recipe.per_aspect else [aspects]
    with sole_run(folder, accelerator):
        if resume:
            _require_same(state, {"-".join(asked) for asked in runs})
        vectors: dict[str, Vectors] = {}
        for group in _by_asked(learned, held):  # so that what is kept of one serves it beside any other
            vectors |= sentence_vectors(
                documents_encoder,
                (each.text for document in group for each in document.candidates),
                cache or state / "sentences",
                lambda done, of: progress("sentences", done, of, ""),
            )
        encoded = time.monotonic()
        run = Run(base, model, space, recipe, learned, held, vectors)
        found = {
            asked: run.train(
                asked,
                state / "-".join(asked),
                accelerator,
                resume=resume,
                save_every=save_every,
                progress=progress,
            )
            for asked in runs
        }
        trained = time.monotonic()
        parity = export_adapter(
            {asked: tower for asked, (tower, *_) in found.items()},
            base,
            encoder,
            recipe,
            folder,
            name=name,
            texts=[each.title for each in learned[:_COMPARED]],
        )
    described = find_adapter(str(folder)).description
    report = AspectReport(
        adapter=name,
        encoder=encoder,
        space=space.id,
        base=base,
        revision=described.revision(described.usual),
        recipe=recipe,
        documents=len(learned),
        unusable=unusable,
        dev_documents=len(held),
        sizes=sizes_of(learned, aspects),
        learned=learned_from(learned, held, aspects),
        sentences=len(vectors),
        device=accelerator.device.type,
        seconds={
            "sentences": round(encoded - began, 1),
            "training": round(trained - encoded, 1),
            "export": round(time.monotonic() - trained, 1),
        },
        trained=tuple(
            Trained.of(asked, described.files[described.aspects[asked[0]].file], history, answered)
            for asked, (_, history, answered) in found.items()
        ),
        parity=parity.exact,
        rounded=parity.rounded,
    )
    finish_run(folder, report)
    return report


def _require_same(state: Path, runs: set[str]) -> None:
    """Refuse to go on for other aspects than a run was begun for: what it did would be lost.

    Raises:
        CheckpointInvalid: naming both.
    """
    begun = {path.name for path in state.glob("*") if any(path.glob("step-*"))}
    if begun - runs:
        raise CheckpointInvalid(
            f"the run in {state} was begun for {', '.join(sorted(begun))} (now {', '.join(sorted(runs))}): "
            "resume it with what it was begun with, or train into another folder"
        )


def _by_asked(*parts: Iterable[LabelledDocument]) -> Iterable[list[LabelledDocument]]:
    """The documents of all parts, by the aspects that they are asked for."""
    groups: dict[tuple[str, ...] | None, list[LabelledDocument]] = {}
    for document in chain(*parts):
        groups.setdefault(document.asked, []).append(document)
    return groups.values()
