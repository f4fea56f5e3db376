"""Labelled tokens from JSON lines, one document a line.

{"pmid": "1", "split": "test", "source": "a", "tokens": ["Aspirin", "helps", "."], "labels": ["I", "N", "N"],
"sent_ends": [3]}. A label is `N`, or letters of P, I, O and C (comparator); `split`, `source` and `sent_ends`
may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.lines import numbered_lines
from trifuse.encoder.training.aspects.labelled import Aspects, LabelledTokens

_LETTERS = {"P": "population", "I": "intervention", "O": "outcome", "C": "comparator"}
_EXPECTED = 'an object such as {"pmid": "1", "tokens": ["Aspirin"], "labels": ["I"]}'


class _Row(msgspec.Struct):
    pmid: str | int
    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    sent_ends: tuple[int, ...] | None = None
    split: str = ""
    source: str = ""


def read_rows(path: str | Path) -> Iterator[LabelledTokens]:
    """The documents of a file, plain or gzip, in its order.

    Raises:
        LabelsInvalid: naming the file, the line, and what was expected; also where two have the same id.
    """
    decoder = msgspec.json.Decoder(_Row)
    lines: dict[str, int] = {}
    for number, line in numbered_lines(path, LabelsInvalid):
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise _fault(path, number, f"{error}; expected {_EXPECTED}") from error
        name = str(row.pmid)
        if name in lines:
            raise _fault(path, number, f"the document {name!r} is in line {lines[name]} too: leave one out")
        lines[name] = number
        yield LabelledTokens(
            name,
            row.tokens,
            _aspects(path, number, row),
            _ends(path, number, row),
            row.split,
            row.source,
        )
    if not lines:
        raise LabelsInvalid(f"{path}: there are no documents in it")


def _aspects(path: str | Path, number: int, row: _Row) -> tuple[Aspects, ...]:
    if len(row.labels) != len(row.tokens):
        raise _fault(
            path, number, f"{len(row.labels)} labels for {len(row.tokens)} tokens: give each token one"
        )
    known: dict[str, Aspects] = {"N": frozenset()}
    for label in row.labels:
        if label not in known:
            if not label or not set(label) <= set(_LETTERS):
                letters = ", ".join(f"{letter} ({aspect})" for letter, aspect in _LETTERS.items())
                raise _fault(
                    path, number, f"the label is {label[:40]!r}, expected N, or letters of {letters}"
                )
            known[label] = frozenset(_LETTERS[letter] for letter in label)
    return tuple(known[label] for label in row.labels)


def _ends(path: str | Path, number: int, row: _Row) -> tuple[int, ...]:
    if row.sent_ends is None or not row.tokens:
        return (len(row.tokens),)
    rising = all(start < end for start, end in pairwise((0, *row.sent_ends)))
    if not rising or row.sent_ends[-1:] != (len(row.tokens),):
        raise _fault(
            path,
            number,
            f"sent_ends are {str(list(row.sent_ends))[:60]}, expected increasing numbers of tokens of which "
            f"the last is {len(row.tokens)}",
        )
    return row.sent_ends


def _fault(path: str | Path, number: int, what: str) -> LabelsInvalid:
    return LabelsInvalid(f"{path}, line {number}: {what}")
