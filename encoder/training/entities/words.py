"""Words of names and texts, in the form by which they are compared."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")
_EQUAL = {
    "neoplasm": "cancer",
    "tumor": "cancer",
    "tumour": "cancer",
    "malignancy": "cancer",
    "oedema": "edema",
    "anaemia": "anemia",
    "leukaemia": "leukemia",
}
_LITTLE = frozenset({"and", "in", "nos", "of", "or", "the", "to", "with"})
_HEAD_LETTERS = 4
_OWNER = re.compile(r"['\u2019]s\b", re.IGNORECASE)


class Word(NamedTuple):
    """A word of a text: `text[start:end]`, folded."""

    start: int
    end: int
    folded: str


def words_of(text: str) -> Iterator[Word]:
    """The words of a text: runs of letters and digits; hyphens, apostrophes and `_` part them.

    >>> [word.folded for word in words_of("Sjögren's, COVID-19")]
    ['sjogren', 's', 'covid', '19']
    """
    for match in _WORD.finditer(text):
        yield Word(match.start(), match.end(), _folded(match[0]))


@functools.lru_cache(maxsize=1 << 17)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def natural(name: str) -> str:
    """A name in the order in which it is spoken: thesauri put what is qualified first.

    >>> natural("Carcinoma, Non-Small-Cell Lung")
    'Non-Small-Cell Lung Carcinoma'
    """
    head, comma, rest = name.partition(", ")
    return name if not comma or not rest or "," in rest else f"{rest} {head}"


def meaning_words(name: str) -> frozenset[str]:
    """The words of a name that say something, in the singular: names that have the same ones mean the same.

    >>> meaning_words("Neoplasms, Breast") == meaning_words("cancer of the breast")
    True
    """
    singular = (_singular(word.folded) for word in words_of(_OWNER.sub("", name)))
    return frozenset(_EQUAL.get(word, word) for word in singular) - _LITTLE


def head_word(name: str) -> str:
    """The word that says what sort of thing a name names: the last one as spoken.

    "" where that is no word of four letters or more: what do all things have in common that end in `2`?

    >>> head_word("Ulcerative colitis")
    'colitis'
    """
    words = [word.folded for word in words_of(natural(name))]
    last = _singular(words[-1]) if words else ""
    return _EQUAL.get(last, last) if last.isalpha() and len(last) >= _HEAD_LETTERS else ""


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "is", "us")):
        return word[:-1]
    return word
