"""What training starts from: a Hugging Face checkpoint's folder, or a model that trifuse knows by name."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelDescription, named_folder
from trifuse.encoder.errors import CheckpointInvalid
from trifuse.encoder.registry import encoder_names, open_model
from trifuse.encoder.training.rebuild import rebuild_bert
from trifuse.encoder.training.towers import first_position

_CONFIG = "config.json"


@dataclass(frozen=True)
class Checkpoint:
    """A transformer and its tokenizer.

    Args:
        transformer: an encoder without a pooler, in float32.
        tokenizer: a `tokenizer.json`; it may be gone once `open_checkpoint` ends.
        separator: the token that ends a text, which parts the texts of a pair.
        max_tokens: what the transformer takes.
        licence: of the checkpoint, where it is known.
        pooling: how it makes one vector of a text, where it is known.
    """

    transformer: Any
    tokenizer: Path
    separator: str
    max_tokens: int
    licence: str = ""
    pooling: Literal["cls", "mean"] = "cls"

    def description(self, name: str, *, query_model: str) -> ModelDescription:
        """How two towers that were trained from it are described."""
        return ModelDescription(
            name=name,
            precision="fp32",
            dimension=int(self.transformer.config.hidden_size),
            pooling="cls",
            max_tokens=self.max_tokens,
            normalized=False,
            similarity="dot",
            query_model=query_model,
            pair_separator=self.separator,
            licence=self.licence,
        )


@contextmanager
def open_checkpoint(name_or_path: str) -> Iterator[Checkpoint]:
    """The transformer to start from. Nothing is fetched from a hub.

    Args:
        name_or_path: a folder that `save_pretrained` wrote (PubMedBERT's, say), or the name or folder of an
            ONNX model of trifuse in fp32, which is turned back into a checkpoint.

    Raises:
        CheckpointInvalid: it can't be trained further.
        ModelNotFound, DownloadFailed: there is no such model.
    """
    path = named_folder(name_or_path)
    if name_or_path in encoder_names() or (path and (path / MODEL_FILE).is_file()):
        yield _rebuilt(name_or_path)
    elif path and (path / _CONFIG).is_file():
        with tempfile.TemporaryDirectory(prefix="trifuse-checkpoint-") as folder:
            yield _pretrained(path, Path(folder) / TOKENIZER_FILE)
    else:
        raise CheckpointInvalid(
            f"{name_or_path!r} is no checkpoint: give a folder with {_CONFIG}, weights and a tokenizer, or "
            f"one of {', '.join(name for name in encoder_names() if 'int8' not in name)}"
        )


def _rebuilt(name_or_path: str) -> Checkpoint:
    model = open_model(name_or_path)
    if model.description.precision != "fp32":
        raise CheckpointInvalid(
            f"{name_or_path!r} is in {model.description.precision}: weights that were rounded can't be "
            "trained further; give the model in fp32"
        )
    return Checkpoint(
        transformer=rebuild_bert(model.path / MODEL_FILE),
        tokenizer=model.path / TOKENIZER_FILE,
        separator="[SEP]",
        max_tokens=model.description.max_tokens,
        licence=model.description.licence,
        pooling=model.description.pooling,
    )


def _pretrained(path: Path, tokenizer_file: Path) -> Checkpoint:
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        transformer = AutoModel.from_pretrained(path, local_files_only=True, dtype="float32")
        tokenizer.backend_tokenizer.save(str(tokenizer_file))
    except Exception as error:  # a damaged file may raise anything
        raise CheckpointInvalid(f"{path} can't be loaded as a checkpoint: {error!r}") from error
    _require_suited(path, tokenizer, transformer)
    if hasattr(transformer, "pooler"):
        transformer.pooler = None
    positions = int(getattr(transformer.config, "max_position_embeddings", 512)) - first_position(transformer)
    return Checkpoint(transformer, tokenizer_file, str(tokenizer.sep_token or ""), positions)


def _require_suited(path: Path, tokenizer: Any, transformer: Any) -> None:
    """Refuse a tokenizer that isn't the transformer's own.

    Raises:
        CheckpointInvalid: naming the folder.
    """
    tokens = tokenizer.get_vocab()
    if len(tokens) <= len(tokenizer.all_special_tokens):
        raise CheckpointInvalid(
            f"{path} has no tokenizer: put the tokenizer.json, or the vocab.txt, of the checkpoint into it"
        )
    rows, last = transformer.get_input_embeddings().num_embeddings, max(tokens.values())
    if last >= rows:
        raise CheckpointInvalid(
            f"the tokenizer in {path} has a token of number {last}, but the transformer {rows} rows: give "
            "the tokenizer that it was trained with"
        )
