"""Zip archives, whole or cut: their members as streams."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from trifuse.indexer.readers.streams import CHUNK, Damaged
from trifuse.indexer.readers.unpack import Inflater

Member = tuple[str, Iterator[bytes]]

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_SIGNATURE = b"PK\x03\x04"
_ENCRYPTED, _SIZE_FOLLOWS, _UTF8 = 0x1, 0x8, 0x800
_STORED, _DEFLATED = _METHODS = (0, 8)
_LONGEST_DESCRIPTOR = 64
# What zipfile lets through of a damaged archive; RuntimeError is a member with a password, or
# packed by an unknown method.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, RuntimeError)
_OFFICE = "[Content_Types].xml"
_CUT = "the zip is cut inside this member"


def members_of(file: IO[bytes]) -> Iterator[Member]:
    """The members of a zip, sorted by name; those of a cut one, whose directory is lost, in their order.

    A member's stream raises Damaged where it is corrupt. The file must be able to seek.

    Raises:
        Damaged: after the last member that a cut archive still has.
    """
    try:
        archive = zipfile.ZipFile(file)
    except _UNREADABLE:
        yield from _salvage(file)
        raise Damaged("the zip is cut or corrupt: its directory is missing") from None
    with archive:
        if _OFFICE in archive.namelist():
            raise Damaged("an Office document, no trials: save the sheet as CSV")
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if not info.is_dir():
                yield info.filename, _stream(archive, info)


def _stream(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(info) as member:
            while chunk := member.read(CHUNK):
                yield chunk
    except _UNREADABLE as error:
        raise Damaged(f"this member of the zip can't be unpacked: {error}") from error


def _salvage(file: IO[bytes]) -> Iterator[Member]:
    """Members by the headers that stand before each: all that a zip without its directory has left."""
    at = 0
    while True:
        file.seek(at)
        header = file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(_SIGNATURE):
            return
        _, _, flags, method, _, _, _, size, _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        name = file.read(name_length).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        member = _Salvaged(file, at + _LOCAL_HEADER.size + name_length + extra_length)
        if not name.endswith("/"):
            yield name, member.unpack(flags, method, size)
        elif not flags & _SIZE_FOLLOWS:
            member.end = member.start + size
        if member.end is None:
            return
        # Between members there may be a descriptor of the one before.
        file.seek(member.end)
        gap = file.read(_LONGEST_DESCRIPTOR).find(_SIGNATURE)
        at = member.end + max(gap, 0)


class _Salvaged:
    """A member whose end is known once it has been unpacked."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file = file
        self.start = start
        self.end: int | None = None

    def unpack(self, flags: int, method: int, size: int) -> Iterator[bytes]:
        """The member's bytes.

        Raises:
            Damaged: it is cut, corrupt, or packed in a way that can't be unpacked without the directory.
        """
        if flags & _ENCRYPTED or method not in _METHODS or (method == _STORED and flags & _SIZE_FOLLOWS):
            raise Damaged("this member of the zip can't be unpacked without the zip's directory")
        self._file.seek(self.start)
        if method == _STORED:
            yield from self._copy(size)
        else:
            yield from self._inflate()

    def _copy(self, size: int) -> Iterator[bytes]:
        left = size
        while left:
            chunk = self._file.read(min(CHUNK, left))
            if not chunk:
                raise Damaged(_CUT)
            left -= len(chunk)
            yield chunk
        self.end = self.start + size

    def _inflate(self) -> Iterator[bytes]:
        inflater = Inflater()
        position = self.start
        while not inflater.ended:
            chunk = self._file.read(CHUNK)
            if not chunk:
                raise Damaged(_CUT)
            position += len(chunk)
            rest = yield from inflater.feed(chunk)
        self.end = position - len(rest)
