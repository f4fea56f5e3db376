"""A trained Trial2Vec to a model's folder: one ONNX graph of named parts, checked before it is put there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import onnx
import torch

from trifuse.encoder.check import LONG, SHORT
from trifuse.encoder.description import (
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelDescription,
    read_model,
)
from trifuse.encoder.errors import ExportFailed
from trifuse.encoder.onnx import PARTS_INPUTS, PARTS_OUTPUTS, quantize_graph
from trifuse.encoder.training.export import SCOPES, new_files, require_parity, write_graph
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.packing import Packer
from trifuse.encoder.training.trial2vec.serving import as_served
from trifuse.encoder.trial import PartsEncoding, TrialEncoder
from trifuse.encoder.types import Vectors

LEAST_ROUNDED = 0.98
"""The mean cosine of trials' vectors by a graph in int8 and by the one that it was made from."""

Trials = Sequence[Mapping[str, str]]


def describe(model: Trial2Vec, name: str, *, licence: str = "") -> ModelDescription:
    """How a trained model is described, in float32."""
    return ModelDescription(
        name=name,
        precision="fp32",
        dimension=model.head.dim,
        pooling=model.pooling,
        max_tokens=max(part.max_tokens for part in model.parts),
        parts=model.parts,
        licence=licence,
    )


def export_trial2vec(
    model: Trial2Vec, tokenizer: Path, description: ModelDescription, folder: Path, *, trials: Trials = ()
) -> float:
    """Write a model's folder that `load_encoder` takes; its files are moved there once they are checked.

    Args:
        model: on any device; it comes back on the CPU.
        tokenizer: the model's `tokenizer.json`.
        description: of the model, by `describe`.
        folder: made where it isn't there.
        trials: more trials, part to text, to compare the vectors of, beside ours.

    Returns:
        the lowest cosine of a vector, global or local, by the graph and by the model. The graph is given the
        parts of a trial together, the model each alone.

    Raises:
        ExportFailed: it is below 0.9999, or the graph can't be made.
    """
    model.to("cpu").eval()
    with new_files(folder, tokenizer, description, MODEL_FILE) as new:
        with _plain_attention(model):
            write_graph(as_served(model), new / MODEL_FILE, inputs=PARTS_INPUTS, outputs=PARTS_OUTPUTS)
        cosine = lowest_cosine(model, new, [*_probes(model), *trials])
        require_parity(cosine, "graph gives")
    return cosine


def quantize_trial2vec(exported: Path, folder: Path, *, name: str, trials: Trials = ()) -> float:
    """Write an exported model once more, in int8: a quarter of its size, and a space of its own.

    The attention over parts stays in float32: it is small, and is the last to touch a vector.

    Args:
        exported: the folder of a model in fp32 that `export_trial2vec` wrote.
        folder: of the model in int8; made where it isn't there.
        name: of the model in int8.
        trials: what to compare the vectors of; (): a few of ours.

    Returns:
        the mean cosine of a trial's vectors by both.

    Raises:
        ExportFailed: it is below 0.98.
        ModelInvalid, ModelNotFound: there is no such model.
    """
    model = read_model(exported)
    description = msgspec.structs.replace(model.description, name=name, precision="int8")
    with new_files(folder, exported / TOKENIZER_FILE, description, MODEL_FILE) as new:
        quantize_graph(exported / MODEL_FILE, new / MODEL_FILE, kept=_head_nodes(exported / MODEL_FILE))
        compared = trials or [dict.fromkeys(model.space.parts, text) for text in SHORT]
        before, after = (
            TrialEncoder(read_model(path), threads=1).encode_parts(compared).global_
            for path in (exported, new)
        )
        cosine = float((before * after).sum(axis=1).mean())
        if not cosine >= LEAST_ROUNDED:
            raise ExportFailed(
                f"in int8 the vectors are off (mean cosine {cosine:.4f}, expected {LEAST_ROUNDED} at least): "
                "nothing was written; serve the model in fp32"
            )
    return cosine


def lowest_cosine(model: Trial2Vec, folder: Path, trials: Trials) -> float:
    """The lowest cosine of a vector of these trials by a folder's encoder, and by the model part by part."""
    found = TrialEncoder(read_model(folder), threads=1).encode_parts(trials)
    global_, local = _part_by_part(model, Packer(folder / TOKENIZER_FILE, model.parts), found, trials)
    cosines = [(found.global_ * global_).sum(-1), (found.local * local).sum(-1)[found.present]]
    return float(np.nan_to_num(np.concatenate(cosines), nan=-1.0).min())


def _part_by_part(
    model: Trial2Vec, packer: Packer, found: PartsEncoding, trials: Trials
) -> tuple[Vectors, Vectors]:
    """(trials, dim) and (trials, parts, dim) by the model, which sees one part at a time."""
    width = model.head.centres.shape[1]
    vectors = torch.zeros(len(trials), len(model.parts), width)
    with torch.no_grad():
        for row, column in np.argwhere(found.present):
            name = model.parts[column].name
            alone, _ = model.pooled(*packer.tensors([{name: trials[row][name]}]))
            vectors[row, column] = alone[0, column]
        global_, local = model.head(vectors, torch.from_numpy(found.present))
    return global_.numpy(), local.numpy()


def _probes(model: Trial2Vec) -> list[dict[str, str]]:
    """Trials with all parts, each alone, and all but each; the first part is longer than it may be."""
    names = [part.name for part in model.parts]
    texts = dict(zip(names, [LONG, *SHORT * len(names)], strict=False))
    kept = [set(names), *({name} for name in names), *(set(names) - {name} for name in names)]
    return [{name: texts[name] for name in names if name in subset} for subset in kept if subset]


@contextmanager
def _plain_attention(model: Trial2Vec) -> Iterator[None]:
    """Attention by its own products: the graph has a third fewer nodes than by torch's fused function."""
    before = model.backbone.config._attn_implementation
    model.backbone.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.backbone.set_attn_implementation(before)


def _head_nodes(path: Path) -> list[str]:
    """The names of the nodes that `PartsAttention` became; each node tells which modules it came from."""
    return [
        node.name
        for node in onnx.load(str(path), load_external_data=False).graph.node
        if any(each.key == SCOPES and ".head'" in each.value for each in node.metadata_props)
    ]
