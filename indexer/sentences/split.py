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


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of one of the trial's long texts: `text == getattr(trial, field)[start:end]`.

    Args:
        section: `brief_summary`, `detailed_description`, `eligibility.inclusion` or `eligibility.exclusion`.
        start, end: offsets in characters (code points) into the stored text of the section's field.
    """

    section: str
    start: int
    end: int
    text: str

    @property
    def field(self) -> str:
        """The trial's field that the section is a part of."""
        return self.section.partition(".")[0]


def sentences_of(trial: Trial) -> Iterator[Sentence]:
    """The sentences of the trial's long texts in reading order, without bullets, numbers and headings."""
    for section, text in (
        ("brief_summary", trial.brief_summary),
        ("detailed_description", trial.detailed_description),
    ):
        if text:
            for start, end in _lines(text):
                yield from _sentences(section, text, start, end)
    if trial.eligibility:
        for piece in pieces(trial.eligibility):
            yield from _sentences(f"eligibility.{piece.side}", trial.eligibility, piece.start, piece.end)


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
