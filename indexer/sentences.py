"""The sentences of a trial, each with its place in the stored text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from trifuse.indexer.trial import Trial


class Sentence(msgspec.Struct, frozen=True):
    """A sentence: `text == getattr(trial, section)[start:end]`.

    Args:
        section: the trial's field that it stands in: `brief_summary`, `detailed_description`, `eligibility`.
        start, end: offsets in characters (code points) into the stored text of that field.
    """

    section: str
    start: int
    end: int
    text: str


def sentences_of(trial: Trial) -> Iterator[Sentence]:
    """The sentences of the trial's long texts, in reading order."""
    return iter(())
