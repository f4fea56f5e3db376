"""Query adapters: folders whose low-rank updates turn a query towards an aspect of the evidence.

A folder holds `aspects.json`, one or several files of updates in onnxruntime's format for adapters, and
patches, each of which makes of a base model's graph the one that takes updates:

    {"name": "pico-bge-small",
     "space": {"id": "bge-small-en-v1.5-int8-...", "encoder": "bge-small-en-v1.5-int8", ...},
     "graphs": {"fp32": {"base": "bge-small-en-v1.5", "patch": "fp32.patch", "sha256": "..."}, "int8": ...},
     "aspects": {"outcome": {"instruction": "outcome: {text}", "file": "adapter.onnx_adapter"}, ...},
     "files": {"adapter.onnx_adapter": "sha256..."}, "rank": 16, "alpha": 32.0, "seed": 0, "recipe": {...}}

The updates were trained in fp32. Where the documents' own encoder is rounded they run over its graph too: a
query takes what a plain one takes then, and no other model is held.

Documents are never encoded by it: their vectors stay those of the one space that it was trained against.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from filelock import FileLock
from msgspec import Meta

from trifuse.encoder.aspects import TEXT
from trifuse.encoder.description import MODEL_FILE, NAME_PATTERN, ModelFolder, Precision, named_folder
from trifuse.encoder.errors import ModelInvalid, ModelNotFound, SpaceMismatch
from trifuse.encoder.fetch import cache_dir, sha256_of
from trifuse.encoder.models import SHIPPED
from trifuse.encoder.patches import Sha256, apply_patch
from trifuse.encoder.registry import open_model
from trifuse.encoder.spaces import EncoderSpace

ADAPTER_FILE = "aspects.json"
DEFAULT_ADAPTER = "pico-bge-small"

_File = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.onnx_adapter$")]
_Patch = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.patch$")]
_Name = Annotated[str, Meta(pattern=NAME_PATTERN)]


class AskedAspect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an adapter does for an aspect.

    Args:
        instruction: all that the encoder is given, `{text}` being the query's: the base's prefix isn't added.
        file: of the updates.

    Raises:
        ValueError: the instruction has no place for the text.
    """

    instruction: str
    file: _File

    def __post_init__(self) -> None:
        if TEXT not in self.instruction:
            raise ValueError(f"the instruction {self.instruction!r} lacks {TEXT}")


class AdapterGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A graph that takes the updates.

    Args:
        base: the model that it is made of: a known name, or a folder.
        base_space: the id of that model's space: another model under its name is refused.
        patch: the file that says how.
        sha256: of the graph.
    """

    base: str
    base_space: str
    patch: _Patch
    sha256: Sha256


class AdapterDescription(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a folder of an adapter says of it.

    Args:
        name: lower-case letters, digits, `.`, `_`, `-`.
        space: of the documents that it was trained against, with its id.
        graphs: precision to graph; `fp32` is the one that it was trained over.
        aspects: what may be asked for.
        files: of the updates, with their SHA-256.
        rank, alpha, seed, recipe: how it was trained.
        licence: of the base, where it is known.

    Raises:
        ValueError: an aspect names a file that isn't there, or the space isn't what its id says.
    """

    name: _Name
    space: dict[str, Any]
    graphs: dict[Precision, AdapterGraph]
    aspects: dict[str, AskedAspect]
    files: dict[_File, Sha256]
    rank: int
    alpha: float
    seed: int
    recipe: dict[str, Any]
    licence: str = ""

    def __post_init__(self) -> None:
        missing = {aspect.file for aspect in self.aspects.values()} - set(self.files)
        if "fp32" not in self.graphs:
            raise ValueError("graphs lacks fp32")
        if missing or not self.aspects:
            raise ValueError(f"files lacks {', '.join(sorted(missing)) or 'updates: it has no aspects'}")
        found = self.encoder_space.id
        named = self.space.get("id")
        if found != named:
            raise ValueError(f"space has the id {named!r}, but its content is of {found!r}")

    @property
    def encoder_space(self) -> EncoderSpace:
        """The space of the documents."""
        content = {name: value for name, value in self.space.items() if name != "id"}
        try:
            return EncoderSpace.from_dict(content)
        except TypeError as error:
            raise ValueError(f"space: {error}") from error

    @property
    def instructions(self) -> dict[str, str]:
        """Aspect to wording."""
        return {name: aspect.instruction for name, aspect in self.aspects.items()}

    @property
    def usual(self) -> Precision:
        """The precision that queries are encoded in where none is asked for: the documents', or fp32."""
        own: Precision = self.encoder_space.precision  # type: ignore[assignment]
        return own if own in self.graphs else "fp32"

    def revision(self, precision: Precision) -> str:
        """A hash of all that moves a query's vector."""
        moving = [
            self.graphs[precision].sha256,
            {name: [each.instruction, self.files[each.file]] for name, each in self.aspects.items()},
        ]
        return hashlib.sha256(json.dumps(moving, sort_keys=True).encode()).hexdigest()[:16]


def space_content(space: EncoderSpace) -> dict[str, Any]:
    """A space as `aspects.json` holds it."""
    return {"id": space.id, **space.as_dict()}


@dataclass(frozen=True)
class Adapter:
    """An adapter that is there: its folder and its description."""

    path: Path
    description: AdapterDescription

    def require_space(self, space: EncoderSpace) -> None:
        """Refuse vectors of any space but the one that it was trained against.

        Raises:
            SpaceMismatch: naming both.
        """
        own = self.description.encoder_space
        if own.id != space.id:
            raise SpaceMismatch(
                f"the adapter {self.description.name!r} was trained against vectors of the space {own.id!r}, "
                f"these are of {space.id!r}: use an index that {own.encoder} embedded, or train an adapter "
                f"against this space (trifuse train aspect --encoder {space.encoder})"
            )


def adapter_names() -> list[str]:
    """The adapters that come with the package, sorted; each is known by its folder's name."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{ADAPTER_FILE}"))


def find_adapter(name_or_path: str) -> Adapter:
    """An adapter by the name of one that comes with the package, or by its folder.

    Raises:
        ModelNotFound: neither.
        ModelInvalid: the folder isn't an adapter's.
    """
    path = SHIPPED / name_or_path if name_or_path in adapter_names() else named_folder(name_or_path)
    if path is None:
        known = ", ".join(adapter_names()) or "none comes with this version"
        raise ModelNotFound(f"no adapter {name_or_path!r}: give an adapter's folder, or one of {known}")
    file = path / ADAPTER_FILE
    try:
        return Adapter(path, msgspec.json.decode(file.read_bytes(), type=AdapterDescription))
    except (OSError, msgspec.DecodeError) as error:
        raise ModelInvalid(
            f"{file} does not describe an adapter: {error}; give a folder that trifuse train aspect wrote"
        ) from error


def open_graph(adapter: Adapter, precision: Precision) -> tuple[ModelFolder, Path]:
    """A base model, fetched where it isn't cached, and its graph that takes updates, made on first use.

    Raises:
        ModelNotFound, DownloadFailed: the base isn't there.
        ModelInvalid: it is another model, the patch is damaged, or the graph can't be put into the cache.
    """
    told = adapter.description.graphs[precision]
    base = open_model(told.base)
    if base.space.id != told.base_space:
        raise ModelInvalid(
            f"the adapter {adapter.description.name!r} is for the base {told.base!r} of the space "
            f"{told.base_space!r}, but what stands there is of {base.space.id!r}: put that model there again"
        )
    graph = cache_dir() / "graphs" / f"{told.sha256[:32]}.onnx"
    try:
        graph.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{graph}.lock"):
            if not graph.is_file() or sha256_of(graph) != told.sha256:
                apply_patch(adapter.path / told.patch, base.path / MODEL_FILE, graph)
    except OSError as error:
        raise ModelInvalid(
            f"the graph of the adapter {adapter.description.name!r} can't be put at {graph}: {error}; check "
            "the room on the disk, or set TRIFUSE_CACHE to another folder"
        ) from error
    return base, graph
