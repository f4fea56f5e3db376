"""Trained updates to an adapter's folder, checked before it is put there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import torch

from trifuse.encoder.adapter_files import (
    ADAPTER_FILE,
    PATCH_FILE,
    AdapterDescription,
    AskedAspect,
    find_adapter,
    space_content,
)
from trifuse.encoder.adapters import AspectEncoder
from trifuse.encoder.aspects import aspect_query
from trifuse.encoder.check import LONG, SHORT
from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelFolder
from trifuse.encoder.errors import ExportFailed
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.onnx import write_lora
from trifuse.encoder.patches import make_patch
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.texts import as_texts
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.graph import DOWN, UP, with_updates
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.batches import tensors
from trifuse.encoder.training.export import LEAST_COSINE, moved_when_whole
from trifuse.encoder.training.towers import segments
from trifuse.encoder.types import Vectors

Towers = Mapping[tuple[str, ...], QueryTower]
"""The aspects that each tower's updates are for; all are of one base, and of one recipe."""


def export_adapter(
    towers: Towers,
    base: ModelFolder,
    named: str,
    space: EncoderSpace,
    recipe: Recipe,
    folder: Path,
    *,
    name: str,
    texts: Sequence[str] = (),
) -> float:
    """Write an adapter's folder that `load_adapter` takes; its files are moved there once they are checked.

    Args:
        towers: on any device; they come back on the CPU.
        base: the model that they were rebuilt from.
        named: what it is called: a known name, or its folder.
        space: of the documents that they were trained against.
        folder: made where it isn't there.
        name: of the adapter.
        texts: more texts to compare vectors of, beside ours.

    Returns:
        the lowest cosine of a query's vector by the adapter and by its tower.

    Raises:
        ExportFailed: it is below 0.9999.
    """
    written = {
        asked: f"{'adapter' if len(towers) == 1 else '-'.join(asked)}.onnx_adapter" for asked in towers
    }
    with moved_when_whole(folder, (*written.values(), PATCH_FILE, ADAPTER_FILE)) as new:
        aspects: dict[str, AskedAspect] = {}
        for asked, tower in towers.items():
            _write_updates(tower.to("cpu").eval(), new / written[asked])
            aspects |= {aspect: AskedAspect(recipe.instructions[aspect], written[asked]) for aspect in asked}
        description = AdapterDescription(
            name=name,
            base=named,
            base_sha256=sha256_of(base.path / MODEL_FILE),
            graph_sha256=_write_patch(base, next(iter(towers.values())), new / PATCH_FILE),
            space=space_content(space),
            aspects=aspects,
            files={file: sha256_of(new / file) for file in written.values()},
            rank=recipe.rank,
            alpha=recipe.alpha,
            seed=recipe.seed,
            recipe=recipe.as_dict(),
            licence=base.description.licence,
        )
        content = msgspec.json.format(msgspec.json.encode(description), indent=2)
        (new / ADAPTER_FILE).write_bytes(content + b"\n")
        cosine = lowest_cosine(towers, base, new, texts)
        if cosine < LEAST_COSINE:
            raise ExportFailed(
                f"the exported adapter gives vectors that are off (cosine {cosine:.6f}, expected "
                f"{LEAST_COSINE} at least): nothing was written; use the versions of the extra 'train'"
            )
    return cosine


def lowest_cosine(towers: Towers, base: ModelFolder, folder: Path, texts: Sequence[str] = ()) -> float:
    """The lowest cosine between a query's vectors by a folder's adapter and by the towers, of all aspects."""
    adapter = find_adapter(str(folder))
    encoder = AspectEncoder(adapter, threads=1)
    clean, _ = as_texts([*SHORT, LONG, *texts])
    tokenizer = TextTokenizer(base.path / TOKENIZER_FILE, base.description.max_tokens)
    lowest = 1.0
    for asked, tower in towers.items():
        for aspect in asked:
            found = encoder.encode_queries(clean, aspect).astype(np.float64)
            for text, vector in zip(clean, found, strict=True):
                query = aspect_query(text, aspect, adapter.description.instructions)
                rows, _ = tokenizer.tokenize([query])
                with torch.no_grad():
                    expected = tower(tensors(tokenizer, rows, segments=segments(tower.transformer)))
                other = expected[0].double().numpy()
                cosine = vector @ other / (np.linalg.norm(vector) * np.linalg.norm(other))
                lowest = min(lowest, float(np.nan_to_num(cosine, nan=-1.0)))
    return lowest


def _write_updates(tower: QueryTower, path: Path) -> None:
    weights: dict[str, Vectors] = {}
    for matrix, (down, up) in tower.updates().items():
        weights |= {matrix + DOWN: down, matrix + UP: up}
    write_lora(weights, path)


def _write_patch(base: ModelFolder, tower: QueryTower, path: Path) -> str:
    """Write how the graph that takes updates is made of the base's; returns its SHA-256."""
    source = base.path / MODEL_FILE
    graph = with_updates(source, [name for name, _ in tower.updated()])
    path.write_bytes(make_patch(source.read_bytes(), graph))
    return hashlib.sha256(graph).hexdigest()
