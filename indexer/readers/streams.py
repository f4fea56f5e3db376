"""Bytes in bounded chunks; damage is an error that comes after all that can be read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

CHUNK = 1 << 18
LARGEST_RECORD = 1 << 26
"""Bytes of the largest record that is read whole: a study has 20 kB, with results up to 10 MB."""


class Damaged(Exception):
    """The input breaks off or is corrupt here; what stood before has been yielded."""


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of an open file.

    Raises:
        Damaged: the system can't read on.
    """
    while True:
        try:
            chunk = file.read(CHUNK)
        except (OSError, EOFError, ValueError) as error:
            raise Damaged(f"can't be read on: {error}") from error
        if not chunk:
            return
        yield chunk


def peek(chunks: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, up to a chunk more than asked for, and all the bytes again, damage included."""
    head = b""
    damage: Damaged | None = None
    try:
        while len(head) < size and (chunk := next(chunks, None)) is not None:
            head += chunk
    except Damaged as error:
        damage = error

    def again() -> Iterator[bytes]:
        if head:
            yield head
        if damage is not None:
            raise damage
        yield from chunks

    return head, again()


def lines_of(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their 1-based numbers, without their ends; None for one that is longer than a record may be.

    A last line that has no end is yielded too, unless the input is damaged there.
    """
    number, length, skipping = 1, 0, False
    pending: list[bytes] = []
    for chunk in chunks:
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            whole = b"".join((*pending, line)) if pending else line
            yield number, None if skipping or len(whole) > LARGEST_RECORD else whole
            number, pending, length, skipping = number + 1, [], 0, False
        if rest and not skipping:
            pending.append(rest)
            length += len(rest)
            if length > LARGEST_RECORD:
                pending, skipping = [], True
    if pending or skipping:
        yield number, None if skipping else b"".join(pending)


class ChunkFile(io.RawIOBase):
    """A file, for readers that want one, over an iterator of bytes; it can't seek."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the next bytes, and say how many."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        part = self._rest[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = self._rest[len(part) :]
        return len(part)
