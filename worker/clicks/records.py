"""What a file of a click log holds, before anyone asks what it means: objects, entries, or rows.

A file is NDJSON (also as a bulk export: with `_source`, or with an action line before each document), a JSON
array of objects, one JSON object that maps ids to texts, TREC topics, or a table without a header.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import ijson
import msgspec

from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.files import LogFile

MAX_LINE = 4 * 2**20
_HEAD = 2**16

Row = list[str]
"""The columns of a line of a table."""


class Entry(msgspec.Struct, frozen=True):
    """The id of a query, and what a file says under it: its text, mostly."""

    id: str
    value: Any


class Broken(msgspec.Struct, frozen=True):
    """A line that can't be read."""


Record = dict[str, Any] | Entry | Row | Broken


def records(file: LogFile) -> Iterator[Record]:
    """What a file holds, in its order, one at a time.

    Raises:
        UnreadableLog: it can't be read, or ends in the middle.
    """
    try:
        with file.open() as stream:
            head = _head(stream)
        with file.open() as stream:
            yield from _shape(head.lstrip(), whole=len(head) < _HEAD)(stream)
    except (OSError, EOFError, zlib.error, ijson.JSONError) as error:
        raise UnreadableLog(f"{file.name} can't be read to its end: {error}") from error


def _head(stream: BinaryIO) -> bytes:
    """The first bytes of a file, as far as it can be read: one that is cut soon holds events, too."""
    head = b""
    with suppress(OSError, EOFError, zlib.error):
        while len(head) < _HEAD and (more := stream.read1(_HEAD - len(head))):  # type: ignore[attr-defined]
            head += more
    return head


def _shape(head: bytes, *, whole: bool) -> Callable[[BinaryIO], Iterator[Record]]:
    """How to read a file that begins like this, and goes on unless it is `whole`."""
    if head.startswith(b"["):
        return _array
    if head.startswith(b"<"):
        return _topics
    if not head.startswith(b"{"):
        return _table
    first, newline, _ = head.partition(b"\n")
    return _map if _opens_map(first, complete=whole or bool(newline)) else _lines


def _opens_map(first: bytes, *, complete: bool) -> bool:
    """Whether the first line opens one big object, rather than holding the first of many."""
    if not complete or not first.strip(b"{ \t\r"):
        return True
    try:
        value = msgspec.json.decode(first)
    except msgspec.DecodeError:
        return False
    return len(value) > 0 and all(key.isdigit() for key in value)


def _lines(stream: BinaryIO) -> Iterator[Record]:
    """The objects of NDJSON; a bulk export's ids come with them, as `_id`."""
    given: str | None = None
    for line in _bounded(stream):
        if line is None:
            yield Broken()
            continue
        text = line.strip().strip(b",")
        if not text:
            continue
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            yield Broken()
            continue
        if not isinstance(value, dict):
            yield Broken()
        elif (action := _action(value)) is not None:
            given = action.get("_id")
        else:
            yield _document(value, given)
            given = None


def _action(value: dict[str, Any]) -> dict[str, Any] | None:
    """The head of a line of a bulk request; None of anything else."""
    if len(value) == 1:
        op, head = next(iter(value.items()))
        if op in ("index", "create") and isinstance(head, dict) and set(head) <= {"_index", "_id", "routing"}:
            return head
    return None


def _document(value: dict[str, Any], given: str | None = None) -> dict[str, Any]:
    source = value.get("_source")
    if isinstance(source, dict):
        return {"_id": value.get("_id"), **source}
    return {"_id": given, **value} if given else value


def _array(stream: BinaryIO) -> Iterator[Record]:
    for value in ijson.items(stream, "item", use_float=True):
        yield _document(value) if isinstance(value, dict) else Broken()


def _map(stream: BinaryIO) -> Iterator[Record]:
    for key, value in ijson.kvitems(stream, "", use_float=True):
        yield Entry(key, value)


_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*(\S+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(.*)", re.IGNORECASE)


def _topics(stream: BinaryIO) -> Iterator[Record]:
    number = None
    for line in _bounded(stream):
        text = (line or b"").decode("utf-8", "replace").strip()
        if found := _NUMBER.match(text):
            number = found[1]
        elif number is not None and (found := _TITLE.match(text)):
            yield Entry(number, found[1].removesuffix("</title>").strip())
            number = None


def _table(stream: BinaryIO) -> Iterator[Record]:
    """Rows; two columns between which a tab stands are an id and a text."""
    for line in _bounded(stream):
        if line is None:
            yield Broken()
            continue
        text = line.decode("utf-8", "replace").strip("\r\n")
        columns = text.split("\t")
        if len(columns) == 2:
            yield Entry(columns[0].strip(), columns[1].strip())
        elif text.strip():
            yield text.split()


def _bounded(stream: BinaryIO) -> Iterator[bytes | None]:
    """Lines; None for one that is longer than any event."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)
        yield None
