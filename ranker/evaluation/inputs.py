"""Files of queries and judgements, plain or gzip, in the layouts that TREC and BEIR use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path

import msgspec

from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation.lines import fault, read_lines

Judgements = dict[str, dict[str, int]]
"""Query id to document id to grade; 1 and more is relevant."""

Queries = dict[str, str]
"""Query id to text, in the file's order."""

Frequencies = dict[str, int | str]
"""Query id to how often the log has it, or to its segment where that alone is known."""


MOST_GRADE = 1_000_000
"""A grade is at most this, and at least the same below 0."""

_WHOLE = re.compile(r"[+-]?[0-9]+")


def read_judgements(path: str | Path) -> Judgements:
    """Judgements from a file, whose layout shows in its lines.

    TREC: four columns parted by white space, `query iteration document grade`. BEIR: three columns parted by
    tabs, `query document grade`, after a header. Grades are whole numbers.

    Raises:
        UnreadableInput: naming the file, the line, and what was expected.
    """
    found: Judgements = {}
    columns = 0
    for number, line in read_lines(path):
        parts = _columns(line)
        if not columns:
            columns = len(parts)
            if columns == 3 and not _is_whole(parts[2]):  # BEIR's header
                continue
        if len(parts) != columns or columns not in (3, 4):
            expected = f"{columns} columns as in the lines before" if columns in (3, 4) else "4 columns or 3"
            raise fault(
                path,
                number,
                f"{len(parts)} columns, expected {expected}: TREC's `query iteration document "
                "grade`, or BEIR's `query document grade` with tabs",
            )
        query, document, grade = parts[0], parts[-2], parts[-1]
        value = _grade(path, number, grade)
        judged = found.setdefault(query, {})
        if judged.setdefault(document, value) != value:
            raise fault(
                path,
                number,
                f"document {document!r} of query {query!r} was judged {judged[document]} before, and "
                f"{grade} here: leave one of them out",
            )
    if not found:
        raise UnreadableInput(f"{path}: there are no judgements in it")
    return found


def check_grades(query: str, judged: Mapping[str, object]) -> None:
    """Refuse grades that no measure is defined for: of judgements that come from no file.

    Raises:
        UnreadableInput: naming the query, the document, and what was expected.
    """
    for document, grade in judged.items():
        if not isinstance(grade, Integral) or abs(int(grade)) > MOST_GRADE:
            raise UnreadableInput(
                f"the grade of document {document!r} of query {query!r} is {grade!r}, expected a whole "
                f"number from {-MOST_GRADE} to {MOST_GRADE}"
            )


def read_queries(path: str | Path) -> Queries:
    """Queries from a file: lines of id, tab, text; or BEIR's JSON lines `{"_id": ..., "text": ...}`.

    Raises:
        UnreadableInput: naming the file, the line, and what was expected.
    """
    found: Queries = {}
    json_lines: bool | None = None
    for number, line in read_lines(path):
        if json_lines is None:
            json_lines = line.startswith("{")
        query, text = _from_json(path, number, line) if json_lines else _from_tsv(path, number, line)
        if not query or not text.strip():
            raise fault(path, number, f"the query {query!r} has {'no text' if query else 'no id'}")
        if query in found:
            raise fault(path, number, f"there is a query {query!r} before: ids must be unique")
        found[query] = text
    if not found:
        raise UnreadableInput(f"{path}: there are no queries in it")
    return found


def read_ids(path: str | Path) -> list[str]:
    """Query ids from a file: one a line, what follows a tab is left aside (so a file of queries will do).

    Raises:
        UnreadableInput: it can't be read, or there are none.
    """
    found = [line.split("\t")[0].strip() for _, line in read_lines(path)]
    if not found:
        raise UnreadableInput(f"{path}: there are no ids in it")
    return found


def read_frequencies(path: str | Path) -> Frequencies:
    """How often a log has each query, from lines of id, tab, and a count or a segment (HEAD, TORSO, TAIL).

    For queries that the log at hand doesn't hold: TripClick keeps those of its test sets out of its log.

    Raises:
        UnreadableInput: naming the file, the line, and what was expected.
    """
    found: Frequencies = {}
    for number, line in read_lines(path):
        query, _, given = line.rpartition("\t")
        query, given = query.strip(), given.strip()
        counted = given.isascii() and given.isdecimal()
        if not query or not (counted or given in SEGMENTS):
            expected = f"`id<tab>frequency`, a whole number of 0 or more, or {', '.join(SEGMENTS)}"
            raise fault(path, number, f"{line!r}, expected {expected}")
        if query in found:
            raise fault(path, number, f"there is a query {query!r} before: give each one frequency")
        found[query] = int(given) if counted else given
    if not found:
        raise UnreadableInput(f"{path}: there are no frequencies in it")
    return found


def _from_tsv(path: str | Path, number: int, line: str) -> tuple[str, str]:
    query, tab, text = line.partition("\t")
    if not tab:
        raise fault(path, number, "no tab, expected `id<tab>text`, or JSON lines of `_id` and `text`")
    return query.strip(), text


def _from_json(path: str | Path, number: int, line: str) -> tuple[str, str]:
    try:
        value = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise fault(path, number, f"no JSON: {error}") from error
    query = value.get("_id", value.get("id")) if isinstance(value, dict) else None
    text = value.get("text") if isinstance(value, dict) else None
    if isinstance(query, int) and not isinstance(query, bool):
        query = str(query)
    if not isinstance(query, str) or not isinstance(text, str):
        raise fault(path, number, 'expected an object such as {"_id": "q1", "text": "stroke in adults"}')
    return query, text


def _columns(line: str) -> list[str]:
    """Tabs part columns where there are any: an id may hold a space."""
    parts = line.split("\t") if line.count("\t") >= 2 else line.split()
    return [part.strip() for part in parts]


def _grade(path: str | Path, number: int, text: str) -> int:
    whole = _WHOLE.fullmatch(text)
    if not whole or len(text) > len(f"-{MOST_GRADE}") or abs(int(text)) > MOST_GRADE:
        expected = f"a whole number from {-MOST_GRADE} to {MOST_GRADE}" if whole else "a whole number"
        raise fault(path, number, f"the grade is {text[:40]!r}, expected {expected}")
    return int(text)


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None
