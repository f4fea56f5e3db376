"""MedCPT's training log: lines `{"qid", "pmid", "click"}`, and the queries in one object, `qid2info.json`.

`click` is how often the article was clicked for the query. https://github.com/ncbi/MedCPT/tree/main/retriever
"""

from __future__ import annotations

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.fields import as_id
from trifuse.worker.clicks.records import Entry, Record
from trifuse.worker.clicks.texts import QueryTexts

NAME = "medcpt"

OTHER_FILES = frozenset({"pmid2info.json"})
"""The articles beside the log."""


def matches(record: Record) -> bool:
    """Whether a record is one of MedCPT's."""
    return isinstance(record, dict) and "qid" in record and "pmid" in record


def text(record: Record) -> tuple[str, str] | None:
    """The id and text of an entry of `qid2info.json`; those of `pmid2info.json` are lists, and no queries."""
    return (record.id, record.value) if isinstance(record, Entry) and isinstance(record.value, str) else None


def event(record: Record, texts: QueryTexts) -> ClickEvent | Fault:
    """A click, or as many as the line counts. The log's ids are its own: they aren't kept."""
    if isinstance(record, Entry):  # of pmid2info.json
        return Fault(None)
    if not isinstance(record, dict):
        return Fault(checks.NOT_AN_EVENT)
    query_id = as_id(record.get("qid"))
    if query_id is None:
        return Fault(checks.NO_QUERY_ID)
    query = texts.get(query_id)
    if query is None:
        return Fault(checks.UNKNOWN_QUERY_ID)
    count = record.get("click", 1)
    if count == 0:
        return Fault(None)
    if isinstance(count, bool) or not isinstance(count, int):
        return Fault(checks.NOT_AN_EVENT)
    return ClickEvent(query=query, doc_id=as_id(record.get("pmid")), count=count)
