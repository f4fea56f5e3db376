"""Models by name or by folder. Names come from the entry points of the group `trifuse.encoders`."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trifuse.encoder.description import (
    ModelDescription,
    ModelFolder,
    named_folder,
    read_description,
    read_model,
)
from trifuse.encoder.errors import EncoderError, ModelInvalid, ModelNotFound
from trifuse.encoder.models import ModelSource
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.unpack import fetch_model, model_folder

if TYPE_CHECKING:
    from trifuse.encoder.types import Encoder

DEFAULT_ENCODER = "bge-small-en-v1.5-int8"
GROUP = "trifuse.encoders"


@dataclass(frozen=True)
class ListedModel:
    """A model that is known by name, and whether it is on this disk."""

    name: str
    description: ModelDescription
    space: EncoderSpace
    cached: bool


def encoder_names() -> list[str]:
    """The names that `load_encoder` knows, sorted."""
    return sorted({point.name for point in importlib.metadata.entry_points(group=GROUP)})


def find_model(name_or_path: str) -> ModelSource | Path:
    """Where a model comes from: its source if it is known by name, else its folder.

    Raises:
        ModelNotFound: neither a known name nor a folder.
        ModelInvalid: the name's entry point is broken, or there are several.
    """
    points = {point.value: point for point in importlib.metadata.entry_points(group=GROUP, name=name_or_path)}
    if len(points) > 1:
        raise ModelInvalid(f"several packages register the model {name_or_path!r}: {', '.join(points)}")
    for point in points.values():
        return _load_point(point)
    path = named_folder(name_or_path)
    if path is None:
        raise ModelNotFound(
            f"no model {name_or_path!r}: give a model's folder, or one of {', '.join(encoder_names())}"
        )
    return path


def _load_point(point: importlib.metadata.EntryPoint) -> ModelSource | Path:
    try:
        found = point.load()()
    except (ImportError, AttributeError, TypeError) as error:
        raise ModelInvalid(
            f"the model {point.name!r} is registered as {point.value}, which can't be called: {error}; "
            "install its package again, or tell its authors"
        ) from error
    return found if isinstance(found, ModelSource) else Path(found)


def describe_encoder(name_or_path: str) -> EncoderSpace:
    """The space of a model, without starting it; for a named model without fetching it.

    Raises:
        ModelNotFound: neither a known name nor a folder.
        ModelInvalid: the folder isn't a model's.
    """
    found = find_model(name_or_path)
    return found.space if isinstance(found, ModelSource) else read_model(found).space


def describe_model(name_or_path: str) -> ModelDescription:
    """What a model says of itself, without starting it; for a named model without fetching it.

    Raises:
        ModelNotFound: neither a known name nor a folder.
        ModelInvalid: the folder isn't a model's.
    """
    found = find_model(name_or_path)
    return found.description if isinstance(found, ModelSource) else read_description(found)


def list_models(damaged: Callable[[str, EncoderError], None]) -> list[ListedModel]:
    """Every model that is known by name, sorted by name.

    Args:
        damaged: is told of each that can't be used, and why: the others are listed.
    """
    found = []
    for name in encoder_names():
        try:
            found.append(_listed(name, find_model(name)))
        except EncoderError as error:  # of this model
            damaged(name, error)
    return found


def _listed(name: str, found: ModelSource | Path) -> ListedModel:
    if isinstance(found, ModelSource):
        return ListedModel(name, found.description, found.space, model_folder(found).is_dir())
    model = read_model(found)
    return ListedModel(name, model.description, model.space, True)


def open_model(name_or_path: str) -> ModelFolder:
    """The folder of a model, fetched where it is known by name and not cached.

    Raises:
        ModelNotFound: neither a known name nor a folder.
        ModelInvalid: the folder isn't a model's, or isn't the model's of that name.
        DownloadFailed: it couldn't be fetched.
    """
    found = find_model(name_or_path)
    if not isinstance(found, ModelSource):
        return read_model(found)
    model = read_model(fetch_model(found))
    if model.space != found.space:
        raise ModelInvalid(
            f"{model.path} isn't the model {name_or_path!r} any more (space {model.space.id}, expected "
            f"{found.space.id}): delete the folder, and it will be fetched again"
        )
    return model


def load_encoder(name_or_path: str, *, device: str = "cpu", threads: int | None = None) -> Encoder:
    """Start a model, of texts or of named parts.

    Args:
        name_or_path: a known name (`trifuse encoders list`), or a model's folder.
        device: `cpu`, `cuda` or `cuda:1`.
        threads: batches under way at once on the CPU, one thread each; None: as many as this process may use.

    Raises:
        ModelNotFound, ModelInvalid, DownloadFailed: there is no such model, or it can't be used.
        DeviceUnavailable, RuntimeMissing: it can't run on that device here.
    """
    model = open_model(name_or_path)
    if model.description.parts:
        from trifuse.encoder.trial import TrialEncoder

        return TrialEncoder(model, device=device, threads=threads)
    from trifuse.encoder.encode import OnnxEncoder

    return OnnxEncoder(model, device=device, threads=threads)
