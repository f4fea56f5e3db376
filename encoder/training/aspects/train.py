"""A query adapter from labelled documents: for an encoder whose document vectors stay as they are."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from accelerate.utils import set_seed

from trifuse.encoder.adapter_files import find_adapter
from trifuse.encoder.description import TOKENIZER_FILE, ModelFolder
from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.registry import describe_model, encoder_names, load_encoder, open_model
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.export import export_adapter
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.report import AspectReport, Trained
from trifuse.encoder.training.aspects.trainer import AdapterHistory, AdapterStep, train_adapter
from trifuse.encoder.training.aspects.vectors import sentence_vectors
from trifuse.encoder.training.checkpoints import open_checkpoint
from trifuse.encoder.training.towers import segments
from trifuse.encoder.training.trainer import accelerator_here
from trifuse.encoder.types import Vectors

REPORT_FILE = "training.json"
STATE_FOLDER = "state"

Progress = Callable[[str, int, int, str], None]
"""Told of a stage (`sentences`, `training`), how far it has come, of how many, and a word on it."""


@dataclass(frozen=True)
class _LearnedFrom:
    """What must be the same when a run is resumed."""

    recipe: Recipe
    documents: str

    def as_dict(self) -> dict[str, Any]:
        return self.recipe.as_dict() | {"documents": self.documents}


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
    learned, unusable = usable(documents, recipe)
    held, _ = usable(dev, recipe)
    aspects = _aspects(learned, recipe)
    documents_encoder = load_encoder(encoder)
    space = documents_encoder.space
    base = base or base_of(encoder)
    model = open_model(base)
    _require_alike(model, base, space)
    state = folder / STATE_FOLDER
    vectors = sentence_vectors(
        documents_encoder,
        (each.text for document in (*learned, *held) for each in document.candidates),
        cache or state / "sentences",
        lambda done, of: progress("sentences", done, of, ""),
    )
    encoded = time.monotonic()
    accelerator = accelerator_here()
    if accelerator.num_processes > 1:
        raise TrainingInvalid(f"an adapter is trained by one process, not by {accelerator.num_processes}")
    told = _LearnedFrom(recipe, _digest(learned, held))
    towers: dict[tuple[str, ...], QueryTower] = {}
    histories: dict[tuple[str, ...], AdapterHistory] = {}
    for asked in [(each,) for each in aspects] if recipe.per_aspect else [aspects]:
        towers[asked], histories[asked] = _train(
            asked,
            (learned, held, vectors),
            base,
            model,
            space,
            told,
            state / "-".join(asked),
            accelerator,
            resume=resume,
            save_every=save_every,
            progress=progress,
        )
    trained = time.monotonic()
    parity = export_adapter(
        towers, model, base, space, recipe, folder, name=name, texts=[each.title for each in learned[:8]]
    )
    described = find_adapter(str(folder)).description
    report = AspectReport(
        adapter=name,
        encoder=encoder,
        space=space.id,
        base=base,
        revision=described.revision,
        recipe=recipe,
        documents=len(learned),
        unusable=unusable,
        dev_documents=len(held),
        sentences=len(vectors),
        device=accelerator.device.type,
        seconds={
            "sentences": round(encoded - began, 1),
            "training": round(trained - encoded, 1),
            "export": round(time.monotonic() - trained, 1),
        },
        trained=tuple(
            Trained.of(asked, described.files[described.aspects[asked[0]].file], history)
            for asked, history in histories.items()
        ),
        parity=parity,
    )
    (folder / REPORT_FILE).write_text(json.dumps(report.as_dict(), indent=1) + "\n")
    shutil.rmtree(state, ignore_errors=True)
    return report


def _train(
    asked: tuple[str, ...],
    data: tuple[Sequence[LabelledDocument], Sequence[LabelledDocument], Mapping[str, Vectors]],
    base: str,
    model: ModelFolder,
    space: EncoderSpace,
    told: _LearnedFrom,
    state: Path,
    accelerator: Accelerator,
    *,
    resume: bool,
    save_every: int,
    progress: Progress,
) -> tuple[QueryTower, AdapterHistory]:
    """One file's updates: of all aspects, or of one."""
    recipe = told.recipe
    set_seed(recipe.seed)
    with open_checkpoint(base) as start:
        tower = QueryTower(start.transformer, space.pooling, recipe, normalized=space.normalized)
    tower.to(accelerator.device).eval()
    learned, held, vectors = data
    tokenizer = TextTokenizer(
        model.path / TOKENIZER_FILE, min(recipe.query_tokens, model.description.max_tokens)
    )
    training, dev = (
        AskedDocuments(some, asked, vectors, tower, tokenizer, recipe, segments=segments(tower.transformer))
        for some in (learned, held)
    )

    def show(step: AdapterStep) -> None:
        said = f"loss {step.loss:.3f}"
        if step.dev is not None:
            said += ", dev " + " / ".join(f"{100 * share:.1f}" for share in step.dev)
        progress("training" if len(asked) > 1 else f"training {asked[0]}", step.number, step.steps, said)

    history = train_adapter(
        tower,
        training,
        recipe,
        state,
        accelerator,
        told,
        dev=dev if len(dev) else None,
        resume=resume,
        save_every=save_every,
        on_step=show,
    )
    return tower, history


def usable(documents: Iterable[LabelledDocument], recipe: Recipe) -> tuple[list[LabelledDocument], int]:
    """The documents that have a title, another sentence and an aspect of the recipe's; how many haven't."""
    known = frozenset(recipe.instructions)
    found: list[LabelledDocument] = []
    unusable = 0
    for document in documents:
        kept = document._replace(
            sentences=tuple(each._replace(aspects=each.aspects & known) for each in document.sentences)
        )
        if kept.title and any(each.aspects for each in kept.candidates):
            found.append(kept)
        else:
            unusable += 1
    return found, unusable


def base_of(encoder: str) -> str:
    """The model in fp32 that encodes the queries of an encoder's adapters.

    Raises:
        TrainingInvalid: none is known.
    """
    if describe_model(encoder).precision == "fp32":
        return encoder
    known = encoder.removesuffix("-int8")
    if known != encoder and known in encoder_names():
        return known
    raise TrainingInvalid(
        f"the weights of {encoder!r} are rounded, so that nothing can be trained on them: give the model in "
        "fp32 that it was made from (--base)"
    )


def _require_alike(model: ModelFolder, base: str, space: EncoderSpace) -> None:
    """Refuse a base whose vectors can't be compared with the documents' at all."""
    own = model.space
    for key in ("dimension", "pooling", "normalized", "similarity"):
        if getattr(own, key) != getattr(space, key):
            raise TrainingInvalid(
                f"the base {base!r} has {key} {getattr(own, key)!r}, the documents' space {space.id!r} has "
                f"{getattr(space, key)!r}: give the model in fp32 that their encoder was made from (--base)"
            )


def _aspects(documents: Sequence[LabelledDocument], recipe: Recipe) -> tuple[str, ...]:
    """The aspects of the recipe that a document has, in its order."""
    had = {aspect for document in documents for each in document.candidates for aspect in each.aspects}
    found = tuple(aspect for aspect in recipe.instructions if aspect in had)
    if not found:
        raise TrainingInvalid(
            "no document has a title, another sentence, and a sentence that tells of "
            f"{', '.join(recipe.instructions)}: there is nothing to learn from"
        )
    return found


def _digest(*groups: Sequence[LabelledDocument]) -> str:
    """A name for what is learned from."""
    found = hashlib.sha256()
    for documents in groups:
        for document in documents:
            content = [document.id, [[each.text, sorted(each.aspects)] for each in document.sentences]]
            found.update(json.dumps(content).encode())
        found.update(b"/")
    return found.hexdigest()[:32]
