"""TripClick: the log of Trip Database, and the relevance judgements that were made from it.

The log (`2017-03-24.json`, one record a line): `DateCreated`, `SessionId`, `Keywords`, `Documents` (the page,
ids or `id:score`), `DocumentId` (the clicked one; 0 or null for none). The judgements: TREC qrels, with the
queries as TREC topics or as lines of id, tab, text; what is judged above 0 was clicked.
https://tripdatabase.github.io/tripclick, Rekabsaz et al. 2021.
"""

from __future__ import annotations

import re

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.fields import as_id, as_ids, timestamp_of
from trifuse.worker.clicks.records import Entry, Record, Row
from trifuse.worker.clicks.texts import QueryTexts

NAME = "tripclick"

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
    """A click with the page that it was made on, or the page alone."""
    if isinstance(record, list):
        return _judgement(record, texts)
    if not isinstance(record, dict):
        return Fault(checks.NOT_AN_EVENT)
    when = timestamp_of(record.get("DateCreated"))
    if isinstance(when, Fault):
        return when
    query = record.get("Keywords")
    shown = _page(record.get("Documents"))
    clicked = as_id(record.get("DocumentId"))
    if clicked in (None, "0", "-1"):
        clicked = None
    return ClickEvent(
        query=plain_keywords(query) if isinstance(query, str) else None,
        doc_id=clicked,
        kind="click" if clicked else "impression",
        timestamp=when,
        position=shown.index(clicked) + 1 if clicked in shown else None,
        session=as_id(record.get("SessionId")),
        shown=shown,
    )


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
