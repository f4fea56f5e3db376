"""The sentences of a trial, each with its place in the stored text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trifuse.indexer.criteria import pieces
from trifuse.indexer.readers.text import MARKER
from trifuse.indexer.trial import Trial

# A full stop, what closes with it, white space, and a capital, a digit or what opens a sentence.
_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9À-ÖØ-Þ])|[。！？]\s*(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|e\.?g|i\.?e|vs|cf|viz|al|approx|ca|resp|incl|excl|min|max|no|nos|fig|figs|sec|vol|pp?"
    r"|dr|prof|mrs?|ms|st|dept|inc|ltd|corp|spp?|subsp|var|u\.s|u\.k|ph\.d|m\.d)\.$",
    re.IGNORECASE,
)
_BEFORE = 12  # characters that an abbreviation needs to its left


# A line may be wrapped at a margin: it goes on below where the next word would have gone over.
_NARROWEST_MARGIN = 64
_WIDEST_MARGIN = 110


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a document's text: `text` is the stored text from `start` to `end`.

    Args:
        section: the path of the field; of a trial `brief_summary`, `detailed_description`,
            `eligibility.inclusion` or `eligibility.exclusion`.
        start, end: offsets in characters (code points) into the stored text.
        item: which of the field's texts it is a part of, from 0; None where the field is one text, as a
            trial's are.
    """

    section: str
    start: int
    end: int
    text: str
    item: int | None = None

    @property
    def field(self) -> str:
        """The trial's field that the section is a part of."""
        return self.section.partition(".")[0]


def sentences_of(trial: Trial) -> Iterator[Sentence]:
    """The sentences of the trial's long texts in reading order, without bullets, numbers and headings."""
    texts = (trial.brief_summary, trial.detailed_description, trial.eligibility)
    return trial_sentences(*(text or "" for text in texts))


def trial_sentences(brief_summary: str, detailed_description: str, eligibility: str) -> Iterator[Sentence]:
    """The sentences of these texts of a trial, one paragraph or list item a line each; "" has none."""
    for section, text in (("brief_summary", brief_summary), ("detailed_description", detailed_description)):
        if text:
            for start, end in _lines(text):
                yield from _sentences(section, text, start, end)
    for piece in pieces(eligibility):
        yield from _sentences(f"eligibility.{piece.side}", eligibility, piece.start, piece.end)


def text_sentences(section: str, text: str, item: int | None = None) -> Iterator[Sentence]:
    """The sentences of any text, whose lines may be wrapped, without bullets and numbers.

    >>> [sentence.text for sentence in text_sentences("note", "One. Two\\n\\n- three")]
    ['One.', 'Two', 'three']
    """
    for start, end in _blocks(text):
        for sentence in _sentences(section, text, start, end):
            if stripped := sentence.text.strip():
                at = sentence.start + len(sentence.text) - len(sentence.text.lstrip())
                yield Sentence(section, at, at + len(stripped), stripped, item)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where paragraphs and list items stand, each one or several lines."""
    lines = list(_lines(text))
    wrapped = max(end - start for start, end in lines) <= _WIDEST_MARGIN
    block: tuple[int, int] | None = None
    line, above = 0, 0  # where this line starts, and how long the one above is
    for start, end in lines:
        word = next(iter(text[start:end].split(maxsplit=1)), "")
        if block and word and wrapped and start == line and above + 1 + len(word) > _NARROWEST_MARGIN:
            block = block[0], end
        else:
            if block:
                yield block
            block = (start, end) if word else None
        line, above = end + 1, len(text[line:end].rstrip())
    if block:
        yield block


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the text of each paragraph and list item stands."""
    start = 0
    for line in text.split("\n"):
        marker = MARKER.match(line)
        yield start + (marker.end() if marker else 0), start + len(line)
        start += len(line) + 1


def _sentences(section: str, text: str, start: int, end: int) -> Iterator[Sentence]:
    for match in _END.finditer(text, start, end):
        stop = match.start() + len(match[0].rstrip())
        if match[0][0] == "." and _ABBREVIATION.search(
            text[max(start, match.start() - _BEFORE) : match.start() + 1]
        ):
            continue
        yield Sentence(section, start, stop, text[start:stop])
        start = match.end()
    if start < end:
        yield Sentence(section, start, end, text[start:end])
