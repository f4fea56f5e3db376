"""TripClick: the log of Trip Database, and the relevance judgements that were made from it.

The log (`2017-03-24.json`, one record a line, one record a click): `DateCreated`, `SessionId`, `Keywords`,
`Documents` (the page: ids, or `id:score`), `DocumentId` (the clicked one; 0 or null for none). The judgements
(`qrels.raw.head.train.txt`, `qrels.dctr.head.train.tsv`): lines of query's id, 0, document's id, grade; the
queries (`topics.head.train.txt`) are TREC topics, or lines of id, tab, text (`.tsv`). What is graded above 0
was clicked: RAW's 1, and DCTR's 1 to 3, which stand for a click-through rate and not for a number of clicks.
https://tripdatabase.github.io/tripclick (Rekabsaz et al. 2021) says what the files are, the code that made
the judgements (https://github.com/tripdatabase/tripclick, its first step) and ir_datasets' reader
(https://github.com/allenai/ir_datasets) how their records look.

The log doesn't number its searches. Records of one session with the same query and the same page are one
search that several clicks came from: it gets an id made from these three, and its page is one impression.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.fields import as_id, as_ids, timestamp_of
from trifuse.worker.clicks.records import Entry, Record, Row
from trifuse.worker.clicks.texts import QueryTexts

NAME = "tripclick"

OTHER_FILES = frozenset({"allarticles.txt", "docs.tsv"})
"""The titles beside the log, and the documents beside the judgements: tables of ids and texts, too."""

_SYNTAX = re.compile(r"\b(?:AND|OR)\b|\b(?:from|to):\d+|\btitle:|~\d+|[()*\"“”,]")
_NOT = re.compile(r"\(\s*NOT\b[^)]*\)|\bNOT\b.*")


def matches(record: Record) -> bool:
    """Whether a record is one of TripClick's."""
    if isinstance(record, dict):
        return "Keywords" in record and "DocumentId" in record
    return isinstance(record, list) and _is_judgement(record)


def text(record: Record) -> tuple[str, str] | None:
    """The id and the text of a topic, or of a line of a query file."""
    return (record.id, record.value) if isinstance(record, Entry) and isinstance(record.value, str) else None


def event(record: Record, texts: QueryTexts) -> ClickEvent | Fault:
    """A click, or the page that nothing was clicked on."""
    if isinstance(record, list):
        return _judgement(record, texts)
    if not isinstance(record, dict):
        return Fault(checks.NOT_AN_EVENT)
    search, clicked = _search(record), _clicked(record)
    if isinstance(search, Fault) or clicked is None:
        return search
    shown = search.shown
    return msgspec.structs.replace(
        search,
        doc_id=clicked,
        kind="click",
        position=shown.index(clicked) + 1 if clicked in shown else None,
        shown=() if search.query_id else shown,
    )


def page(record: Record) -> ClickEvent | None:
    """The impression that a click's record holds beside the click."""
    if not isinstance(record, dict) or _clicked(record) is None:
        return None
    search = _search(record)
    return search if isinstance(search, ClickEvent) and search.query and search.query_id else None


def _search(record: dict[str, Any]) -> ClickEvent | Fault:
    """The search that a record belongs to, as the impression of its page."""
    when = timestamp_of(record.get("DateCreated"))
    if isinstance(when, Fault):
        return when
    keywords, session = record.get("Keywords"), as_id(record.get("SessionId"))
    if isinstance(keywords, str) and "tag:" in keywords:  # a list of tagged documents: the makers skip it
        return Fault(None)
    shown = _page(record.get("Documents"))
    return ClickEvent(
        query=plain_keywords(keywords) if isinstance(keywords, str) else "",
        query_id=_digest(session, str(keywords), *shown) if session and shown else None,
        kind="impression",
        timestamp=when,
        session=session,
        shown=shown,
    )


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _clicked(record: dict[str, Any]) -> str | None:
    clicked = as_id(record.get("DocumentId"))
    return None if clicked in ("0", "-1") else clicked


def plain_keywords(query: str) -> str:
    """A query without Trip's syntax, as the makers of the collection read it (their step 1).

    >>> plain_keywords('title:(asthma OR wheeze) AND "inhaled steroids" from:2010 NOT children')
    'asthma wheeze inhaled steroids'
    """
    return " ".join(_SYNTAX.sub(" ", _NOT.sub(" ", query)).split())


def _is_judgement(row: Row) -> bool:
    return len(row) == 4 and row[3].lstrip("-").replace(".", "", 1).isdigit()


def _judgement(row: Row, texts: QueryTexts) -> ClickEvent | Fault:
    if not _is_judgement(row):
        return Fault(checks.NOT_AN_EVENT)
    query_id, _, document, grade = row
    if float(grade) <= 0:
        return Fault(None)
    query = texts.get(query_id)
    if query is None:
        return Fault(checks.UNKNOWN_QUERY_ID)
    return ClickEvent(query=query, doc_id=document)


def _page(value: object) -> tuple[str, ...]:
    """The ids of a page: a list, or the same as one string; each with its score or without."""
    if isinstance(value, str):
        value = re.sub(r'[\[\]"\s]', "", value).split(",")
    return tuple(found.partition(":")[0] for found in as_ids(value))
