"""Trained updates to an adapter's folder, checked before it is put there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import torch

from trifuse.encoder.adapter_files import (
    ADAPTER_FILE,
    AdapterDescription,
    AdapterGraph,
    AskedAspect,
    find_adapter,
    space_content,
)
from trifuse.encoder.adapters import AspectEncoder
from trifuse.encoder.aspects import aspect_query
from trifuse.encoder.check import LONG, SHORT
from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelFolder, Precision
from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.onnx import write_lora
from trifuse.encoder.patches import make_patch
from trifuse.encoder.registry import open_model
from trifuse.encoder.texts import as_texts
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.graph import DOWN, UP, with_updates
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.batches import tensors
from trifuse.encoder.training.export import moved_when_whole, require_parity
from trifuse.encoder.training.towers import segments
from trifuse.encoder.types import Vectors

Towers = Mapping[tuple[str, ...], QueryTower]
"""The aspects that each tower's updates are for; all are of one base, and of one recipe."""


class Parity(NamedTuple):
    """How queries' vectors by an exported adapter agree with those of the trained towers.

    Args:
        exact: the lowest cosine, over the graph in fp32.
        rounded: the mean cosine, over the graph of the documents' own encoder; None: that isn't rounded, or
            can't take updates.
    """

    exact: float
    rounded: float | None


def export_adapter(
    towers: Towers,
    base: str,
    encoder: str,
    recipe: Recipe,
    folder: Path,
    *,
    name: str,
    texts: Sequence[str] = (),
) -> Parity:
    """Write an adapter's folder that `load_adapter` takes; its files are moved there once they are checked.

    Args:
        towers: on any device; they come back on the CPU.
        base: the model that they were rebuilt from.
        encoder: whose document vectors they were trained against. Where it is rounded, queries may run over
            its graph too.
        folder: made where it isn't there.
        name: of the adapter.
        texts: more texts to compare vectors of, beside ours.

    Raises:
        ExportFailed: over the graph in fp32 a cosine is below 0.9999.
    """
    written = {
        asked: f"{'adapter' if len(towers) == 1 else '-'.join(asked)}.onnx_adapter" for asked in towers
    }
    model, documents = open_model(base), open_model(encoder)
    matrices = [matrix for matrix, _ in next(iter(towers.values())).updated()]
    graphs = _graphs({base: model, encoder: documents}, matrices)
    patches = [_patch(precision) for precision in graphs]
    with moved_when_whole(folder, (*written.values(), *patches, ADAPTER_FILE)) as new:
        aspects: dict[str, AskedAspect] = {}
        for asked, tower in towers.items():
            _write_updates(tower.to("cpu").eval(), new / written[asked])
            aspects |= {aspect: AskedAspect(recipe.instructions[aspect], written[asked]) for aspect in asked}
        for precision, (_, source, graph) in graphs.items():
            patch = make_patch((source.path / MODEL_FILE).read_bytes(), graph)
            (new / _patch(precision)).write_bytes(patch)
        description = AdapterDescription(
            name=name,
            space=space_content(documents.space),
            graphs={
                precision: AdapterGraph(
                    named, source.space.id, _patch(precision), hashlib.sha256(graph).hexdigest()
                )
                for precision, (named, source, graph) in graphs.items()
            },
            aspects=aspects,
            files={file: sha256_of(new / file) for file in written.values()},
            rank=recipe.rank,
            alpha=recipe.alpha,
            seed=recipe.seed,
            recipe=recipe.as_dict(),
            licence=model.description.licence,
        )
        content = msgspec.json.format(msgspec.json.encode(description), indent=2)
        (new / ADAPTER_FILE).write_bytes(content + b"\n")
        exact = float(cosines(towers, model, new, "fp32", texts).min())
        require_parity(exact, "adapter gives")
        usual = description.usual
        rounded = None if usual == "fp32" else float(cosines(towers, model, new, usual, texts).mean())
    return Parity(exact, rounded)


def cosines(
    towers: Towers, base: ModelFolder, folder: Path, precision: Precision, texts: Sequence[str] = ()
) -> Vectors:
    """(n,) cosines between queries' vectors by a folder's adapter and by the towers, of all aspects."""
    adapter = find_adapter(str(folder))
    encoder = AspectEncoder(adapter, precision=precision, threads=1)
    clean, _ = as_texts([*SHORT, LONG, *texts])
    tokenizer = TextTokenizer(base.path / TOKENIZER_FILE, base.description.max_tokens)
    found = []
    for asked, tower in towers.items():
        for aspect in asked:
            vectors = encoder.encode_queries(clean, aspect).astype(np.float64)
            for text, vector in zip(clean, vectors, strict=True):
                query = aspect_query(text, aspect, adapter.description.instructions)
                rows, _ = tokenizer.tokenize([query])
                with torch.no_grad():
                    expected = tower(tensors(tokenizer, rows, segments=segments(tower.transformer)))
                other = expected[0].double().numpy()
                found.append(vector @ other / (np.linalg.norm(vector) * np.linalg.norm(other)))
    return np.nan_to_num(np.array(found, dtype=np.float32), nan=-1.0)


def _graphs(
    models: Mapping[str, ModelFolder], matrices: Sequence[str]
) -> dict[Precision, tuple[str, ModelFolder, bytes]]:
    """Precision to the model's name, the model, and its graph that takes updates; the base comes first."""
    found: dict[Precision, tuple[str, ModelFolder, bytes]] = {}
    for named, model in models.items():
        try:
            graph = with_updates(model.path / MODEL_FILE, matrices)
        except TrainingInvalid:
            if not found:
                raise
            continue  # rounded by other means: queries stay in fp32
        found.setdefault(model.description.precision, (named, model, graph))
    return found


def _patch(precision: Precision) -> str:
    return f"{precision}.patch"


def _write_updates(tower: QueryTower, path: Path) -> None:
    weights: dict[str, Vectors] = {}
    for matrix, (down, up) in tower.updates().items():
        weights |= {matrix + DOWN: down, matrix + UP: up}
    write_lora(weights, path)
