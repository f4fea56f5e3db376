"""A model's description of itself: the file `trifuse.json` of its folder, and what follows from it.

A model is a folder with `model.onnx`, `tokenizer.json` and `trifuse.json`:

    {"name": "bge-small-en-v1.5", "precision": "fp32", "dimension": 384, "pooling": "cls",
     "max_tokens": 512, "normalized": true, "similarity": "cosine", "query_prefix": "...", "licence": "MIT"}

A model of two towers has `model.onnx` for documents, and another graph for queries beside it, which
`query_model` names: `"query_model": "query.onnx"`.

A model of named parts (`trifuse.encoder.trial`) says which it takes, and how long each may be:

    {"name": "trial2vec-small", ..., "max_tokens": 256,
     "parts": [{"name": "title", "max_tokens": 64}, {"name": "context", "max_tokens": 256, "context": true}]}
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from trifuse.encoder.errors import ModelInvalid, ModelNotFound
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.parts import Part
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
DESCRIPTION_FILE = "trifuse.json"

Precision = Literal["fp32", "fp16", "int8"]
_Count = Annotated[int, Meta(ge=1)]
_File = Annotated[str, Meta(pattern=r"^$|^[A-Za-z0-9][A-Za-z0-9._-]*\.onnx$")]
NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""What the name of a model, or of an adapter, may be."""

_Name = Annotated[str, Meta(pattern=NAME_PATTERN)]


class ModelDescription(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model's two files don't say themselves.

    Args:
        name: lower-case letters, digits, `.`, `_`, `-`: it is part of space ids and of queue names.
        precision: of the weights; int8 makes vectors of its own.
        dimension: numbers in a vector.
        pooling: the first token's vector, or the mean over all tokens.
        max_tokens: what the model takes, with its special tokens; the rest is cut.
        normalized: whether vectors are brought to unit norm.
        similarity: what the model was trained for.
        query_prefix: put before every query.
        document_prefix: put before every document.
        query_model: the file of the graph that encodes queries; "" where they are encoded as documents are.
        pair_separator: the special token between a title and its text, where the model was trained on such
            pairs: `[SEP]`; "" where it wasn't.
        parts: the named parts that the model takes, in the order in which its graph counts them; (): texts.
        licence: an SPDX name, or where to read it.

    Raises:
        ValueError: parts that contradict each other, or something that parts don't go with.
    """

    name: _Name
    precision: Precision
    dimension: _Count
    pooling: Literal["cls", "mean"]
    max_tokens: _Count
    normalized: bool = True
    similarity: Literal["cosine", "dot"] = "cosine"
    query_prefix: str = ""
    document_prefix: str = ""
    query_model: _File = ""
    pair_separator: str = ""
    parts: tuple[Part, ...] = ()
    licence: str = ""

    def __post_init__(self) -> None:
        if not self.parts:
            return
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names) or sum(part.context for part in self.parts) > 1:
            raise ValueError(f"parts {', '.join(names)}: each name once, and one context at most")
        for part in self.parts:
            if part.max_tokens > self.max_tokens:
                raise ValueError(
                    f"part {part.name!r} has max_tokens {part.max_tokens}, the model {self.max_tokens}"
                )
        for key in ("query_prefix", "document_prefix", "query_model", "pair_separator"):
            if getattr(self, key):
                raise ValueError(f"{key} doesn't go with parts")

    @property
    def key_parts(self) -> tuple[str, ...]:
        """The names of the parts that are key attributes: all but the context."""
        return tuple(part.name for part in self.parts if not part.context)

    def prefix(self, role: Role) -> str:
        """What is put before a text of that role."""
        prefixes = {"query": self.query_prefix, "document": self.document_prefix}
        if role not in prefixes:
            raise ValueError(f"role={role!r}: expected 'query' or 'document'")
        return prefixes[role]

    def as_dict(self) -> dict[str, Any]:
        """The description as `trifuse.json` holds it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {**found, "parts": list(found["parts"])}

    def space(self, model_sha256: str, tokenizer_sha256: str, query_sha256: str = "") -> EncoderSpace:
        """The space of the model that has these files.

        A query tower moves no document's vector: what is its own is kept apart (`query_tower`), so that
        another one costs nothing that is stored.
        """
        two_towers = bool(self.query_model)
        moving: dict[str, Any] = {
            "model": model_sha256,
            "tokenizer": tokenizer_sha256,
            "max_tokens": self.max_tokens,
            "prefixes": ["" if two_towers else self.query_prefix, self.document_prefix],
        }
        if self.pair_separator:
            moving["pair_separator"] = self.pair_separator
        if self.parts:
            moving["parts"] = [[part.name, part.max_tokens, part.context] for part in self.parts]
        tower = _revision({"model": query_sha256, "prefix": self.query_prefix}) if two_towers else ""
        return EncoderSpace(
            encoder=self.name,
            revision=_revision(moving),
            precision=self.precision,
            pooling=self.pooling,
            dimension=self.dimension,
            normalized=self.normalized,
            similarity=self.similarity,
            query_tower=tower,
            parts=tuple(part.name for part in self.parts),
        )


def _revision(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class ModelFolder:
    """A model that is there: its folder, its description and its space."""

    path: Path
    description: ModelDescription
    space: EncoderSpace


def named_folder(name_or_path: str) -> Path | None:
    """The folder at a path, in which `~` is a user's home; None: there is none, or it can be none."""
    try:
        path = Path(name_or_path).expanduser()
        return path if path.is_dir() else None
    except (OSError, RuntimeError):  # too long a name; no such user
        return None


def read_model(path: Path) -> ModelFolder:
    """Read a model's folder; its files are hashed, so that another model never passes for this one.

    Raises:
        ModelNotFound: there is no such folder.
        ModelInvalid: a file is missing, or the description can't be used.
    """
    description = read_description(path)
    query = description.query_model
    if query and not (path / query).is_file():
        raise ModelInvalid(
            f"the model folder {path} lacks {query}, which its {DESCRIPTION_FILE} names as the query tower"
        )
    space = description.space(
        sha256_of(path / MODEL_FILE),
        sha256_of(path / TOKENIZER_FILE),
        sha256_of(path / query) if query else "",
    )
    return ModelFolder(path, description, space)


def read_description(path: Path) -> ModelDescription:
    """What a model's folder says of its model.

    Raises:
        ModelNotFound: there is no such folder.
        ModelInvalid: a file is missing, or the description can't be used.
    """
    if not path.is_dir():
        raise ModelNotFound(f"no model folder at {path}: give a folder with {_FILES}")
    missing = [name for name in _NAMES if not (path / name).is_file()]
    if missing:
        raise ModelInvalid(f"the model folder {path} lacks {', '.join(missing)}: a model is {_FILES}")
    return parse_description((path / DESCRIPTION_FILE).read_bytes(), where=path / DESCRIPTION_FILE)


def parse_description(content: bytes, *, where: Path) -> ModelDescription:
    """The description in a `trifuse.json`.

    Raises:
        ModelInvalid: naming the file, the key, what stands there and what was expected.
    """
    try:
        return msgspec.json.decode(content, type=ModelDescription)
    except msgspec.DecodeError as error:
        fields = ", ".join(ModelDescription.__struct_fields__)
        raise ModelInvalid(f"{where} does not describe a model: {error} (keys: {fields})") from error


_NAMES = (MODEL_FILE, TOKENIZER_FILE, DESCRIPTION_FILE)
_FILES = f"{MODEL_FILE}, {TOKENIZER_FILE} and {DESCRIPTION_FILE}"
