"""Unpacking as far as it goes: what comes out before a fault is yielded before the fault is raised."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator

from trifuse.indexer.readers.streams import Damaged

_PIECE = 1 << 16
_STEP = 256
_MOST = 1 << 20  # bytes that one call may give, however well they were packed
_GZIP, _DEFLATE = 31, -15


def gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """What gzip has packed, several members after one another included.

    Raises:
        Damaged: cut or corrupt.
    """
    inflater = Inflater(_GZIP)
    for chunk in chunks:
        rest = chunk
        while rest:
            if inflater.ended:
                rest = rest.lstrip(b"\0")  # some writers pad with zeros
                if not rest:
                    break
                inflater = Inflater(_GZIP)
            rest = yield from inflater.feed(rest)
    if not inflater.ended:
        raise Damaged("its gzip data is cut: the end is missing")


class Inflater:
    """One packed stream, `ended` once its end has been fed."""

    def __init__(self, wbits: int = _DEFLATE) -> None:
        self._unpacker = zlib.decompressobj(wbits)

    @property
    def ended(self) -> bool:
        """Whether the end of the stream has been reached."""
        return self._unpacker.eof

    def feed(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield what comes out, in bounded parts, and return the bytes behind the end of the stream.

        Raises:
            Damaged: corrupt.
        """
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            before = self._unpacker.copy()
            try:
                yield from _drain(self._unpacker, piece)
            except zlib.error as error:
                yield from _up_to_the_fault(before, piece)
                raise Damaged(f"its packed data is corrupt: {error}") from error
            if self._unpacker.eof:
                return self._unpacker.unused_data + data[start + _PIECE :]
        return b""


def _drain(unpacker: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    while True:
        out = unpacker.decompress(piece, _MOST)
        if out:
            yield out
        if len(out) < _MOST or unpacker.eof:
            return
        piece = unpacker.unconsumed_tail


def _up_to_the_fault(unpacker: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    """zlib gives nothing of a call in which it finds a fault: come near to it in small steps."""
    for start in range(0, len(piece), _STEP):
        try:
            yield from _drain(unpacker, piece[start : start + _STEP])
        except zlib.error:
            return
