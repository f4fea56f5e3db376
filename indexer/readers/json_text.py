"""A JSON text of any length, read value by value."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from trifuse.indexer.readers.streams import LARGEST_RECORD

DECODER = json.JSONDecoder()
PAGE = re.compile(r'\{[^\[\]]{0,2000}?"(?:studies|FullStudies)"\s*:\s*\[')
"""An array of trials inside a page of the API, and what stands before it."""

_LONGEST_HEAD = 4096
_BETWEEN = re.compile(r"[\s,\x1e\ufeff]*")
_FIRST_KEY = re.compile(r'\{\s*("[^"\\]{1,60}")')
_OPENING = re.compile(r"[\[{]")
# A fault this near to the end of what has been read may only be the end of what has been read.
_MARGIN = 32


class JsonText:
    """A text of which only the value at hand is kept; `at` is where it starts."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ended = False
        self._text = ""
        self._at = 0

    def _read(self, size: int) -> bool:
        """Have so many characters at hand, if there are as many; whether there are any new ones."""
        before = len(self._text) - self._at
        parts = [self._text[self._at :]]
        length = before
        while length < size and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            part = self._decoder.decode(chunk or b"", final=self._ended)
            parts.append(part)
            length += len(part)
        if len(parts) > 1:
            self._text, self._at = "".join(parts), 0
        return length > before

    def skip(self) -> str:
        """Go on to the next character that separates nothing, and say which it is; "" at the end."""
        while True:
            self._at = _end(_BETWEEN.match(self._text, self._at))
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read(1):
                return ""

    def enter(self) -> bool:
        """Go into the array, or the page with an array, that starts here; whether one does."""
        self._read(_LONGEST_HEAD)
        if self._text[self._at] == "[":
            self._at += 1
            return True
        page = PAGE.match(self._text, self._at)
        if page:
            self._at = page.end()
        return page is not None

    def leave(self) -> None:
        """Go on behind the array that ends here, and behind the rest of its page: no trial stands there."""
        self._at += 1
        while not (opening := _OPENING.search(self._text, self._at)):
            self._at = len(self._text)
            if not self._read(1):
                return
        self._at = opening.start()

    def first_key(self) -> str:
        """The first key, in its quotes, of the object that starts here; "" where none does."""
        self._read(_LONGEST_HEAD)
        match = _FIRST_KEY.match(self._text, self._at)
        return match[1] if match else ""

    def value(self) -> Any:
        """The value that starts here.

        Raises:
            ValueError: it is no JSON, is cut, or is larger than a record may be.
        """
        while True:
            try:
                value, self._at = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                left = len(self._text) - self._at
                if not error.msg.startswith("Unterminated") and error.pos < len(self._text) - _MARGIN:
                    raise ValueError(
                        f"{error.msg} (character {error.pos - self._at} of the value)"
                    ) from error
                if left > LARGEST_RECORD:
                    raise ValueError(
                        f"it is longer than {LARGEST_RECORD >> 20} MiB, the most that is read"
                    ) from error
                if not self._read(2 * left + 1):
                    raise ValueError("the file is cut inside it") from error
            except RecursionError as error:
                raise ValueError("it is nested too deeply") from error
            else:
                return value

    def resume(self, key: str) -> bool:
        """After a fault, go on to the next object that has `key` as its first; whether there is one."""
        if not key:
            return False
        start = re.compile(rf"(?<=[,\[\n\s\}}])\{{\s*{re.escape(key)}\s*:")
        self._at += 1
        while not (match := start.search(self._text, self._at)):
            self._at = max(self._at, len(self._text) - _LONGEST_HEAD)
            if not self._read(len(self._text) - self._at + 1):
                return False
        self._at = match.start()
        return True


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
