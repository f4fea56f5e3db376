"""Trained towers to a model's folder: two ONNX graphs, a tokenizer, a description; checked beforehand."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import torch
from torch import Tensor, nn

from trifuse.encoder.check import LONG, SHORT
from trifuse.encoder.description import (
    DESCRIPTION_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelDescription,
    read_model,
)
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import ExportFailed
from trifuse.encoder.templates import Role
from trifuse.encoder.texts import as_texts
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.batches import tensors
from trifuse.encoder.training.towers import Towers, segments, vectors_of

QUERY_FILE = "query.onnx"
LEAST_COSINE = 0.9999
"""Of a text's vector by the exported graph and by the trained model."""

SCOPES = "pkg.torch.onnx.name_scopes"
"""The key under which a node tells which modules it came from."""

_OUTPUT = "last_hidden_state"
_NEW = ".new-"


def export_towers(
    towers: Towers, tokenizer: Path, description: ModelDescription, folder: Path, *, texts: Sequence[str] = ()
) -> float:
    """Write a model's folder that `load_encoder` takes; its files are moved there once they are checked.

    Args:
        towers: on any device; they come back on the CPU.
        tokenizer: the model's `tokenizer.json`.
        description: of the model; its `query_model` must be `query.onnx`.
        folder: made where it isn't there.
        texts: more texts to compare vectors of, beside ours.

    Returns:
        the lowest cosine of a text's vector by the graph and by the model, of both towers.

    Raises:
        ExportFailed: it is below 0.9999, or the graph can't be made.
    """
    towers.to("cpu").eval()
    with new_files(folder, tokenizer, description, MODEL_FILE, QUERY_FILE) as new:
        for tower, file in ((towers.document, MODEL_FILE), (towers.query, QUERY_FILE)):
            export_graph(tower, new / file)
        cosine = lowest_cosine(towers, new, texts)
        require_parity(cosine, "graphs give")
    return cosine


def require_parity(cosine: float, what: str) -> None:
    """Refuse an export that isn't what was trained.

    Args:
        cosine: the lowest of a vector by the export and by the trained model.
        what: was exported, with its verb.

    Raises:
        ExportFailed: it is below 0.9999.
    """
    if not cosine >= LEAST_COSINE:
        raise ExportFailed(
            f"the exported {what} vectors that are off (cosine {cosine:.6f}, expected {LEAST_COSINE} at "
            "least): nothing was written; use the versions of the extra 'train'"
        )


@contextmanager
def new_files(folder: Path, tokenizer: Path, description: ModelDescription, *graphs: str) -> Iterator[Path]:
    """A folder to write a model's graphs to; if nothing is raised, all files are moved to where they belong.

    Args:
        folder: where they belong; made where it isn't there.
        graphs: the names of the files that are written there.
    """
    with moved_when_whole(folder, (*graphs, TOKENIZER_FILE, DESCRIPTION_FILE)) as new:
        shutil.copyfile(tokenizer, new / TOKENIZER_FILE)
        content = msgspec.json.format(msgspec.json.encode(description), indent=2)
        (new / DESCRIPTION_FILE).write_bytes(content + b"\n")
        yield new


@contextmanager
def moved_when_whole(folder: Path, files: Iterable[str]) -> Iterator[Path]:
    """A folder to write files to; if nothing is raised, they are moved to where they belong.

    Args:
        folder: where they belong; made where it isn't there.
        files: their names, in the order in which they are moved; read only then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{_NEW}*"):  # by an export that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_NEW, dir=folder) as temporary:
        yield Path(temporary)
        for file in files:
            (Path(temporary) / file).replace(folder / file)


def export_graph(tower: Any, path: Path) -> None:
    """Write a transformer as an ONNX graph from token ids to token vectors, in one file.

    Raises:
        ExportFailed: it can't be written as a graph.
    """
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if segments(tower) else [])]
    write_graph(_LastLayer(tower), path, inputs=names, outputs=[_OUTPUT])


def write_graph(module: nn.Module, path: Path, *, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Write a module as an ONNX graph, in one file.

    Args:
        inputs: the names of its arguments: (rows, length) int64 each, both free.
        outputs: the names of what it returns.

    Raises:
        ExportFailed: it can't be written as a graph.
    """
    example = tuple(torch.ones((2, 8), dtype=torch.int64) for _ in inputs)
    axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    quiet = logging.getLogger("torch.onnx")
    level = quiet.level
    quiet.setLevel(logging.ERROR)  # it names every package that it could support, were it installed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                _Positional(module, inputs).eval(),
                example,
                input_names=list(inputs),
                output_names=list(outputs),
                dynamic_shapes=(tuple(axes for _ in inputs),),
                dynamo=True,
                verbose=False,
            )
            if program is None:
                raise ExportFailed(f"torch made no graph of a {type(module).__name__}")
            program.save(str(path), external_data=False)
        _forget_traces(path)
    except torch.onnx.errors.OnnxExporterError as error:
        raise ExportFailed(f"a {type(module).__name__} can't be written as an ONNX graph: {error}") from error
    finally:
        quiet.setLevel(level)


def _forget_traces(path: Path) -> None:
    """Drop what torch notes of where each node came from: paths of this machine; the same model is one file.

    The names of the modules stay.
    """
    model = onnx.load(str(path))
    graph = model.graph
    for node in graph.node:
        scopes = [each for each in node.metadata_props if each.key == SCOPES]
        del node.metadata_props[:]
        node.metadata_props.extend(scopes)
    for noted in (graph, *graph.value_info, *graph.input, *graph.output):
        del noted.metadata_props[:]
    onnx.save(model, str(path))


class _LastLayer(nn.Module):
    """A transformer that gives its last layer."""

    def __init__(self, tower: Any) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, **tokens: Tensor) -> Tensor:
        hidden: Tensor = self.tower(**tokens, return_dict=True)[0]
        return hidden


class _Positional(nn.Module):
    """A module that takes tensors by their place."""

    def __init__(self, module: nn.Module, names: Sequence[str]) -> None:
        super().__init__()
        self.module = module
        self.names = tuple(names)

    def forward(self, *inputs: Tensor) -> Any:
        return self.module(**dict(zip(self.names, inputs, strict=True)))


def lowest_cosine(towers: Towers, folder: Path, texts: Sequence[str] = ()) -> float:
    """The lowest cosine between a text's vectors by a folder's encoder and by the towers, of both roles."""
    model = read_model(folder)
    description = model.description
    encoder = OnnxEncoder(model, threads=1)
    clean, _ = as_texts([*SHORT, LONG, *texts])
    tokenizer = TextTokenizer(
        folder / TOKENIZER_FILE, description.max_tokens, separator=description.pair_separator
    )
    lowest = 1.0
    roles: tuple[tuple[Role, Any], ...] = (("document", towers.document), ("query", towers.query))
    for role, tower in roles:
        found = encoder.encode(clean, role=role).vectors.astype(np.float64)
        for text, vector in zip(clean, found, strict=True):
            rows, _ = tokenizer.tokenize([description.prefix(role) + text])
            expected = (
                vectors_of(tower, tensors(tokenizer, rows, segments=segments(tower)))[0].double().numpy()
            )
            cosine = vector @ expected / (np.linalg.norm(vector) * np.linalg.norm(expected))
            lowest = min(lowest, float(np.nan_to_num(cosine, nan=-1.0)))
    return lowest
