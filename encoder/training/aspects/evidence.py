"""The files of Evidence Inference: articles on trials, and prompts, which say what an article compares.

Lehman et al.: Inferring Which Medical Treatments Work from Reports of Clinical Trials, NAACL 2019. Abstracts
and full texts are JSON lines, prompts and annotations are CSV; all may be packed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.lines import numbered_lines

_HEADING = re.compile(r"^(TITLE|ABSTRACT|BODY)\b[^\n]*:[ ]*\n", re.MULTILINE)
_YES = "True"
_Row = TypeVar("_Row")


class Article(NamedTuple):
    """An article: its text, and where its title and the parts of its abstract stand in it.

    Args:
        split: `train`, `validation` or `test`; "" where there is none.
        title, passages: (start, end) in characters.
    """

    id: str
    split: str
    text: str
    title: tuple[int, int]
    passages: tuple[tuple[int, int], ...]


class Prompt(NamedTuple):
    """What an article compares: how an intervention changed an outcome, against a comparator."""

    id: str
    article: str
    intervention: str
    comparator: str
    outcome: str


class _Section(msgspec.Struct):
    text: str


class _Abstract(msgspec.Struct):
    pmcid: str | int
    title: str | None
    abstract: list[_Section]
    split: str | None = None


class _FullText(msgspec.Struct):
    pmcid: str | int
    text: str
    split: str | None = None


def read_abstracts(path: str | Path) -> Iterator[Article]:
    """Articles of which title and abstract are given apart: their text is both, a line each.

    Raises:
        LabelsInvalid: naming the file, the line, and what was expected.
    """
    for row in _rows(path, _Abstract):
        texts = [row.title or "", *(section.text for section in row.abstract)]
        spans, at = [], 0
        for text in texts:
            spans.append((at, at + len(text)))
            at += len(text) + 1
        yield Article(str(row.pmcid), row.split or "", "\n".join(texts), spans[0], tuple(spans[1:]))


def read_full_texts(path: str | Path) -> Iterator[Article]:
    """Articles by their full text, in which annotations have their offsets; passages are the abstract's.

    Raises:
        LabelsInvalid: naming the file, the line, and what was expected.
    """
    for row in _rows(path, _FullText):
        headings = list(_HEADING.finditer(row.text))
        ends = [*(heading.start() for heading in headings[1:]), len(row.text)]
        parts = [(heading[1], heading.end(), end) for heading, end in zip(headings, ends, strict=True)]
        yield Article(
            str(row.pmcid),
            row.split or "",
            row.text,
            next(((start, end) for kind, start, end in parts if kind == "TITLE"), (0, 0)),
            tuple((start, end) for kind, start, end in parts if kind == "ABSTRACT"),
        )


def read_prompts(path: str | Path) -> dict[str, list[Prompt]]:
    """Article to its prompts.

    Raises:
        LabelsInvalid: naming the file, and the columns or the line at fault.
    """
    found: dict[str, list[Prompt]] = {}
    for _, (prompt, article, *texts) in _table(
        path, ("PromptID", "PMCID", "Intervention", "Comparator", "Outcome")
    ):
        intervention, comparator, outcome = (text.strip() for text in texts)
        found.setdefault(article, []).append(Prompt(prompt, article, intervention, comparator, outcome))
    return found


def read_evidence(path: str | Path, left_out: Callable[[str], None]) -> dict[str, list[tuple[int, int]]]:
    """Prompt to where its article's full text says what came of it.

    Args:
        left_out: is told of each annotation that its reviewer didn't find valid.

    Raises:
        LabelsInvalid: naming the file, and the columns or the line at fault.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    columns = ("PromptID", "Valid Label", "Valid Reasoning", "Evidence Start", "Evidence End")
    for number, (prompt, label, reasoning, start, end) in _table(path, columns):
        if not (start.isdecimal() and end.isdecimal() and int(start) < int(end)):
            raise LabelsInvalid(
                f"{path}, line {number}: the evidence is from {start[:20]!r} to {end[:20]!r}, expected two "
                "numbers of characters of which the first is less"
            )
        if (label, reasoning) == (_YES, _YES):
            found.setdefault(prompt, []).append((int(start), int(end)))
        else:
            left_out(f"an annotation of the prompt {prompt} isn't valid (line {number})")
    return found


def _rows(path: str | Path, row: type[_Row]) -> Iterator[_Row]:
    decoder = msgspec.json.Decoder(row)
    for number, line in numbered_lines(path, LabelsInvalid):
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise LabelsInvalid(f"{path}, line {number}: {error}") from error


def _table(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The line that a row ends in, and its cells of these columns."""
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for at, line in numbered_lines(path, LabelsInvalid):  # noqa: B007
            yield f"{line}\n"

    reader = csv.DictReader(lines(), strict=True)
    lacking = sorted({*columns} - {*(reader.fieldnames or ())})
    if lacking:
        raise LabelsInvalid(f"{path}: there is no column {', '.join(lacking)}")
    try:
        for row in reader:
            cells = [row[column] for column in columns]
            if None in cells:
                raise LabelsInvalid(f"{path}, line {at}: the row is shorter than the header")
            yield at, cells
    except csv.Error as error:
        raise LabelsInvalid(f"{path}, line {at}: {error}") from error
