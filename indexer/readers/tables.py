"""Trials out of CSV: the registry's export, Trial2Vec's file, and what has their columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from trifuse.indexer.readers.flat import is_flat, raw_of_flat, unknown_names
from trifuse.indexer.readers.records import Place, Record, Rejection
from trifuse.indexer.readers.streams import LARGEST_RECORD, lines_of
from trifuse.indexer.readers.values import nct_ids

# Where a row starts, when a quote that is never closed has swallowed it.
_ROW = re.compile(r'(?:\d{1,9},)?"?NCT\d{1,11}"?,')
_DELIMITERS = ",\t;"


class Header(NamedTuple):
    """How a CSV file of trials is written: by its first line."""

    delimiter: str
    columns: list[str]


def header_of(head: bytes) -> Header | None:
    """The header of a CSV file of trials; None where the first line is none."""
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace").lstrip("\ufeff").strip("\r")
    for delimiter in _DELIMITERS:
        try:
            columns = next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        names = [name.strip() for name in columns]
        if is_flat(names):
            return Header(delimiter, names)
    return None


def read_csv(chunks: Iterator[bytes], place: Place, header: Header) -> Iterator[Record | Rejection]:
    """The trials of a CSV file, one a row; a row that can't be read doesn't touch the others."""
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_RECORD))
    lines = _Lines(chunks)
    next(lines)
    rows = csv.reader(lines, delimiter=header.delimiter, strict=True)
    columns = header.columns
    unknown = unknown_names(columns)
    while True:
        place.line = lines.next_record()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield place.reject(f"not a row of CSV: {error}")
            lines.push_back_rows()
            continue
        if not row:
            continue
        if len(row) == len(columns):
            yield from place.records(raw_of_flat(dict(zip(columns, row, strict=True))), unknown=unknown)
        else:
            ids = [found for cell in row[:2] for found in nct_ids(cell) if cell]
            expected = f"a row of {len(row)} cells; the header has {len(columns)} columns"
            yield place.reject(expected, ids[0] if ids else None)
            lines.push_back_rows()


class _Lines:
    """Physical lines as text; those of the record at hand can be given back from where a row starts."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._lines = lines_of(chunks)
        self._given_back: list[tuple[int, str]] = []
        self._record: list[tuple[int, str]] = []
        self._number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._given_back:
            number, line = self._given_back.pop()
        else:
            number, data = next(self._lines)
            line = "" if data is None else data.decode("utf-8", "replace").replace("\0", "") + "\n"
        self._number = number
        self._record.append((number, line))
        return line

    def next_record(self) -> int:
        """The number of the line at which the next record starts."""
        self._record.clear()
        return self._given_back[-1][0] if self._given_back else self._number + 1

    def push_back_rows(self) -> None:
        """Give back the record's lines from the second on that looks like the start of a row."""
        for index, (_, line) in enumerate(self._record[1:], 1):
            if _ROW.match(line):
                self._given_back.extend(reversed(self._record[index:]))
                return
