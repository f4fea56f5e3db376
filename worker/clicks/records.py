"""What a file of a click log holds, before anyone asks what it means: objects, entries, or rows.

A file is NDJSON (also as a bulk export: with `_source`, or with an action line before each document), a JSON
array of objects, one JSON object that maps ids to texts, TREC topics, or a table without a header. Each
record comes with its place in the file: its line, or its number where a file isn't read by lines.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import ijson
import msgspec
from ijson.common import ObjectBuilder

from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.files import LogFile

MAX_LINE = 4 * 2**20
"""So many bytes a record has at most."""

_HEAD = 2**16
_SHOWN_OF_A_LINE = 2000
_MAX_DEPTH = 100

_FIRST_ID = re.compile(rb'\{\s*"\d+"\s*:')
"""How an object begins that maps ids to texts."""

Row = list[str]
"""The columns of a line of a table."""


class Entry(msgspec.Struct, frozen=True):
    """The id of a query, and what a file says under it: its text, mostly."""

    id: str
    value: Any


class Broken(msgspec.Struct, frozen=True):
    """A line that can't be read; `text` is how it begins."""

    text: str = ""


Record = dict[str, Any] | Entry | Row | Broken


class At(NamedTuple):
    """A record, and its place in the file: a line's number as `12`, an object's as `record 12`, from 1."""

    place: str
    record: Record


def records(file: LogFile) -> Iterator[At]:
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


def _shape(head: bytes, *, whole: bool) -> Callable[[BinaryIO], Iterator[At]]:
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
    if not first.strip(b"{ \t\r"):
        return True
    if not complete:
        return _FIRST_ID.match(first) is not None
    value = _object(first)
    return value is not None and len(value) > 0 and all(key.isdigit() for key in value)


def _lines(stream: BinaryIO) -> Iterator[At]:
    """The objects of NDJSON; a bulk export's ids come with them, as `_id`."""
    given: str | None = None
    for number, line, whole in _bounded(stream):
        text = line.strip().strip(b",")
        if not text:
            continue
        value = _object(text) if whole else None
        if value is None:
            yield At(number, _broken(line))
        elif (action := _action(value)) is not None:
            given = action.get("_id")
        else:
            yield At(number, _document(value, given))
            given = None


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _broken(line: bytes) -> Broken:
    return Broken(line[:_SHOWN_OF_A_LINE].decode("utf-8", "replace").strip())


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


def _array(stream: BinaryIO) -> Iterator[At]:
    for number, (_, value) in enumerate(_members(stream), 1):
        record = _document(value) if isinstance(value, dict) else Broken(repr(value)[:_SHOWN_OF_A_LINE])
        yield At(f"record {number}", record)


def _map(stream: BinaryIO) -> Iterator[At]:
    for number, (key, value) in enumerate(_members(stream), 1):
        yield At(f"record {number}", Entry(key, value))


def _members(stream: BinaryIO) -> Iterator[tuple[str, Any]]:
    """The members of one big array or object, with their keys ("" in an array).

    ijson's own way keeps the path to where it is at each level, which of 100,000 brackets is gigabytes, and
    a text of any length.
    """
    depth, key, builder, source = 0, "", ObjectBuilder(), _Source(stream)
    for event, value in ijson.basic_parse(source, use_float=True):
        if event in ("start_map", "start_array"):
            depth += 1
            if depth > _MAX_DEPTH:
                raise ijson.JSONError(f"it is nested deeper than {_MAX_DEPTH} levels")
            if depth == 1:
                continue
        elif event in ("end_map", "end_array"):
            depth -= 1
            if depth == 0:
                continue
        elif depth == 1 and event == "map_key":
            key = value
            continue
        builder.event(event, value)
        if depth == 1:
            source.since = 0
            yield key, builder.value
            builder = ObjectBuilder()


class _Source:
    """A stream that ends with an error where a member goes on for longer than a record may.

    `since` is how many bytes were read since the last member's end.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.since = 0
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as ijson asks for them."""
        if self.since > MAX_LINE:
            raise ijson.JSONError(f"a record is longer than {MAX_LINE >> 20} MiB, the most that is read")
        data = self._stream.read(size)
        self.since += len(data)
        return data


_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*(\S+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(.*)", re.IGNORECASE)


def _topics(stream: BinaryIO) -> Iterator[At]:
    """Topics; a title may go on over lines, until the next tag or an empty line."""
    number, place, title = None, "", ""
    for line_number, line, _ in _bounded(stream):
        text = line.decode("utf-8", "replace").strip()
        if title and text and not text.startswith("<"):
            title = f"{title} {text}"
            continue
        if title and number is not None:
            yield At(place, Entry(number, title.removesuffix("</title>").strip()))
            number, title = None, ""
        if found := _NUMBER.match(text):
            number = found[1]
        elif number is not None and (found := _TITLE.match(text)):
            place, title = line_number, found[1]
    if title and number is not None:
        yield At(place, Entry(number, title.removesuffix("</title>").strip()))


def _table(stream: BinaryIO) -> Iterator[At]:
    """Rows; two columns between which a tab stands are an id and a text."""
    for number, line, whole in _bounded(stream):
        if not whole:
            yield At(number, _broken(line))
            continue
        text = line.decode("utf-8", "replace").strip("\r\n")
        columns = text.split("\t")
        if len(columns) == 2:
            yield At(number, Entry(columns[0].strip(), columns[1].strip()))
        elif text.strip():
            yield At(number, text.split())


def _bounded(stream: BinaryIO) -> Iterator[tuple[str, bytes, bool]]:
    """Lines with their numbers from 1, and whether they are whole: one longer than any event is cut."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        whole = len(line) < MAX_LINE or line.endswith(b"\n")
        yield str(number), line, whole
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)
