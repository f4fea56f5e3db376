"""Trials out of JSON of any size: NDJSON line by line, arrays element by element, memory flat."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from trifuse.indexer.readers.json_text import DECODER, PAGE, JsonText
from trifuse.indexer.readers.json_values import records_of
from trifuse.indexer.readers.records import Place, Record, Rejection
from trifuse.indexer.readers.streams import LARGEST_RECORD, lines_of, peek

_LONGEST_OPENING = 200
# A line that ends in the middle of a value, as the first one of a pretty-printed value does.
_GOES_ON = re.compile(r"[\[{,:]\s*$")


def read_json(chunks: Iterator[bytes], place: Place) -> Iterator[Record | Rejection]:
    """The trials of a JSON file: one value, many one a line, an array, or a page that holds one."""
    head, chunks = peek(chunks, 1 << 16)
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("{") and not PAGE.match(text) and _is_ndjson(text):
        return _lines(chunks, place)
    return _values(JsonText(chunks), place)


def _is_ndjson(text: str) -> bool:
    """Whether the first line is a value by itself, or was meant to be one."""
    line, feed, rest = text.partition("\n")
    if not feed:
        return True
    try:
        DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        # A pretty-printed value opens with a short line; a broken line of NDJSON has a study's length, or
        # is over where it ends: the next one starts a value of its own.
        return len(line) > _LONGEST_OPENING or (
            not _GOES_ON.search(line) and rest.lstrip("\r\n").startswith("{")
        )
    return True


def _lines(chunks: Iterator[bytes], place: Place) -> Iterator[Record | Rejection]:
    """The trials of NDJSON; a line that can't be read doesn't touch the others."""
    for place.line, line in lines_of(chunks):
        if line is None:
            yield place.reject(f"the line is longer than {LARGEST_RECORD >> 20} MiB, the most that is read")
        elif stripped := line.removeprefix(codecs.BOM_UTF8).strip():
            try:
                value = _decode(stripped)
            except ValueError as error:
                yield place.reject(f"the line is not JSON: {error}")
            else:
                yield from records_of(value, place)


def _decode(line: bytes) -> Any:
    """A JSON value. What msgspec refuses (NaN, lone surrogates) gets a second chance."""
    try:
        try:
            return msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return json.loads(line.decode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _values(text: JsonText, place: Place) -> Iterator[Record | Rejection]:
    """The trials of values that follow one another; arrays, and those of pages, are entered."""
    position, inside, key = 0, False, ""
    while char := text.skip():
        if not inside and text.enter():
            inside = True
        elif inside and char == "]":
            inside = False
            text.leave()
        else:
            position += 1
            place.line = position if inside or position > 1 else None
            key = key or text.first_key()
            try:
                value = text.value()
            except ValueError as error:
                yield place.reject(f"not JSON here: {error}")
                if not text.resume(key):
                    return
            else:
                yield from records_of(value, Place(place.source, place.line))
    if inside:
        place.line = position + 1
        yield place.reject("cut here: the array of trials has no end")
