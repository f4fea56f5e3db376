"""Files made of ranges of another file and a few bytes of their own: models too large to be shipped whole.

A patch is a zip of `patch.json` (what it is made from and makes, by size and SHA-256, and the ranges in their
order) and `literals` (the bytes that the base lacks, one after another).
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import msgspec
import numpy as np
from msgspec import Meta

from trifuse.encoder.errors import ModelInvalid
from trifuse.encoder.fetch import sha256_of

BLOCK = 256
"""Bytes: what both files share in a row is found for certain where it is twice as long."""

_HEADER, _LITERALS = "patch.json", "literals"
_CHUNK = 1 << 20
# What zipfile raises, depending on which byte is wrong.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, RuntimeError)
_Count = Annotated[int, Meta(ge=0)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""Of a file, in hex."""


class PatchedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that a patch is made for, or makes."""

    size: _Count
    sha256: Sha256


class Patch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a patch says of itself.

    Args:
        base: the file that it is made for.
        target: the file that it makes.
        segments: of the target, in order: where in the base and how many bytes; None in the place of where:
            as many bytes of the patch's own.
        format: of the patch.
    """

    base: PatchedFile
    target: PatchedFile
    segments: tuple[tuple[_Count | None, _Count], ...]
    format: Literal[1] = 1


def make_patch(base: bytes, target: bytes) -> bytes:
    """A patch that makes `target` from `base`: the same for the same two."""
    segments = tuple(_segments(base, target))
    patch = Patch(_described(base), _described(target), segments)
    own, at = bytearray(), 0
    for start, length in segments:
        if start is None:
            own += target[at : at + length]
        at += length
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in ((_HEADER, msgspec.json.encode(patch)), (_LITERALS, bytes(own))):
            undated = zipfile.ZipInfo(name)
            archive.writestr(undated, content, zipfile.ZIP_DEFLATED, compresslevel=9)
    return file.getvalue()


def read_patch(path: Path) -> Patch:
    """What a patch says of itself; its bytes aren't read.

    Raises:
        ModelInvalid: it isn't there, or is damaged.
    """
    with _opened(path) as archive:
        return _header(archive, path)


def apply_patch(path: Path, base: Path, target: Path) -> None:
    """Make a patch's target, which afterwards is whole or not there.

    Args:
        path: of the patch.
        base: the file that it was made for.
        target: the file to write.

    Raises:
        ModelInvalid: the base is another file, the patch is damaged, or what comes out isn't what it says.
    """
    with _opened(path) as archive:
        patch = _header(archive, path)
        own = _member(archive, _LITERALS, path)
    _require_whole(path, patch, len(own))
    found = sha256_of(base)
    if found != patch.base.sha256:
        raise ModelInvalid(
            f"{base} has SHA-256 {found}, but {path} is made for {patch.base.sha256}: give it that file"
        )
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as folder:
        new = Path(folder) / target.name
        digest = hashlib.sha256()
        with base.open("rb") as source, new.open("wb") as file:
            for chunk in _chunks(patch, source, own):
                digest.update(chunk)
                file.write(chunk)
        if digest.hexdigest() != patch.target.sha256:
            raise _damaged(path, f"it makes SHA-256 {digest.hexdigest()}, expected {patch.target.sha256}")
        new.replace(target)


def _segments(base: bytes, target: bytes) -> Iterator[tuple[int | None, int]]:
    """The target's segments: whole blocks of the base are found at any place, and grow at both ends."""
    blocks: dict[bytes, int] = {}
    for start in range(0, len(base) - BLOCK + 1, BLOCK):
        blocks.setdefault(base[start : start + BLOCK], start)
    done = at = 0  # all before `done` is told, what is between the two is in no block
    while at + BLOCK <= len(target):
        start = blocks.get(target[at : at + BLOCK], -1)
        if start < 0:
            at += 1
            continue
        while at > done and start > 0 and target[at - 1] == base[start - 1]:
            at, start = at - 1, start - 1
        if at > done:
            yield None, at - done
        length = _same(base, start, target, at)
        yield start, length
        done = at = at + length
    if len(target) > done:
        yield None, len(target) - done


def _same(base: bytes, start: int, target: bytes, at: int) -> int:
    """How many bytes are the same from there on."""
    most = min(len(base) - start, len(target) - at)
    for done in range(0, most, _CHUNK):
        size = min(_CHUNK, most - done)
        pair = (
            np.frombuffer(whole, np.uint8, size, offset + done)
            for whole, offset in ((base, start), (target, at))
        )
        differ = np.flatnonzero(np.not_equal(*pair))
        if len(differ):
            return done + int(differ[0])
    return most


def _described(content: bytes) -> PatchedFile:
    return PatchedFile(len(content), hashlib.sha256(content).hexdigest())


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return archive.read(name)
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


def _header(archive: zipfile.ZipFile, path: Path) -> Patch:
    try:
        return msgspec.json.decode(_member(archive, _HEADER, path), type=Patch)
    except msgspec.DecodeError as error:
        raise _damaged(path, error) from error


def _require_whole(path: Path, patch: Patch, own: int) -> None:
    """Refuse segments that don't add up, or that end after the base."""
    sizes = {
        "bytes of its own": (own, sum(length for start, length in patch.segments if start is None)),
        "bytes in all": (patch.target.size, sum(length for _, length in patch.segments)),
    }
    for what, (has, told) in sizes.items():
        if has != told:
            raise _damaged(path, f"it has {has:,} {what}, but its segments add up to {told:,}")
    last = max((start + length for start, length in patch.segments if start is not None), default=0)
    if last > patch.base.size:
        raise _damaged(path, f"a segment ends at byte {last:,} of a base of {patch.base.size:,}")


def _chunks(patch: Patch, base: BinaryIO, own: bytes) -> Iterator[bytes]:
    taken = 0
    for start, length in patch.segments:
        if start is None:
            yield own[taken : taken + length]
            taken += length
            continue
        base.seek(start)
        for read in range(0, length, _CHUNK):
            yield base.read(min(_CHUNK, length - read))


def _damaged(path: Path, why: object) -> ModelInvalid:
    return ModelInvalid(f"the patch {path} is missing or damaged: {why}; install its package again")
