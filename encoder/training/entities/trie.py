"""Names by their words, and the longest of them at each place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trifuse.encoder.training.entities.words import Word, words_of

_BETWEEN = re.compile(r"[ \t\xa0\-\u2010-\u2015'\u2019,/()&+]{1,3}")
_ACRONYM_LETTERS = 6


class Match(NamedTuple):
    """A name at `text[start:end]`, and the id that it was put in with."""

    start: int
    end: int
    id: str


class _Node:
    __slots__ = ("acronym", "id", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.id = ""
        self.acronym = ""


class NameTrie:
    """Finds names in texts: case, accents, hyphens and the width of spaces don't count.

    An acronym (one word of at most six letters, all capitals) is found only as it is spelled: `ALL` isn't
    "all". A name doesn't go on over a full stop, a semicolon, a colon or a line's end.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Put in names and their ids; a name that is there already keeps the id that it has."""
        self._root = _Node()
        for name, id in names:
            self._put(name, id)

    def _put(self, name: str, id: str) -> None:
        words = list(words_of(name))
        if not words:
            return
        node = self._root
        for word in words:
            node = node.next.setdefault(word.folded, _Node())
        if len(words) == 1 and _is_acronym(name[words[0].start : words[0].end]):
            node.acronym = node.acronym or id
        else:
            node.id = node.id or id

    def find(self, text: str) -> Iterator[Match]:
        """From left to right the longest name that begins at a word; what is taken isn't looked at again."""
        words = list(words_of(text))
        at = 0
        while at < len(words):
            found = self._longest(text, words, at)
            if found is None:
                at += 1
            else:
                length, id = found
                yield Match(words[at].start, words[at + length - 1].end, id)
                at += length

    def _longest(self, text: str, words: list[Word], at: int) -> tuple[int, str] | None:
        node = self._root
        found: tuple[int, str] | None = None
        for place in range(at, len(words)):
            word = words[place]
            following = node.next.get(word.folded)
            if following is None:
                break
            if place > at and not _BETWEEN.fullmatch(text, words[place - 1].end, word.start):
                break
            node = following
            if node.id:
                found = place - at + 1, node.id
            if place == at and node.acronym and text[word.start : word.end].isupper():
                found = 1, node.acronym
        return found


def _is_acronym(word: str) -> bool:
    return word.isalpha() and word.isupper() and 2 <= len(word) <= _ACRONYM_LETTERS
