"""The index `trifuse-failed`: documents that can't be embedded, and why.

A document that failed isn't pending while its text and the space are the same. Success removes the record.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.actions import Action
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.hints import Hint
from trifuse.indexer.mapping import index_body
from trifuse.indexer.pending import Mark
from trifuse.indexer.reading import PATIENT, get_documents, search
from trifuse.indexer.retry import Retry

FAILED_INDEX = "trifuse-failed"

_KEYWORD = {"type": "keyword", "ignore_above": 8191}
_PAGE = 1_000


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One document that can't be embedded.

    Args:
        index, uuid, field: the vector field; the UUID keeps it from a later index of the same name.
        doc_id, routing: the document.
        space, text_hash: what it failed with.
        reason: why.
        attempts: how often it was tried.
        at: when it was tried last, ISO 8601.
        record: the id of the record, which isn't kept in it: older ones were known without the routing.
    """

    index: str
    uuid: str
    field: str
    doc_id: str
    routing: str | None
    space: str
    text_hash: str
    reason: str
    attempts: int
    at: str
    record: str = ""

    @property
    def hint(self) -> Hint:
        """The document's id and routing: two of one id may lie on two shards."""
        return self.doc_id, self.routing

    @property
    def mark(self) -> Mark:
        """What it failed with, as a mark."""
        return Mark(self.space, self.text_hash)


def failed_body() -> dict[str, Any]:
    """The body of the index of failures."""
    return index_body(
        {
            **dict.fromkeys(("index", "uuid", "field", "doc_id", "routing", "space", "text_hash"), _KEYWORD),
            "reason": {"type": "text"},
            "attempts": {"type": "integer"},
            "at": {"type": "date"},
        }
    )


def failure_id(target: EmbeddedField, doc_id: str, routing: str | None) -> str:
    """The id of a document's record."""
    known = (target.uuid, target.field, doc_id, *(() if routing is None else (routing,)))
    return hashlib.sha256("\0".join(known).encode("utf-8", "surrogatepass")).hexdigest()


def failure(
    target: EmbeddedField,
    hint: Hint,
    mark: Mark,
    reason: str,
    *,
    before: Failure | None,
) -> Failure:
    """A failure that happened now; `before` is what was known of the document."""
    doc_id, routing = hint
    return Failure(
        index=target.index,
        uuid=target.uuid,
        field=target.field,
        doc_id=doc_id,
        routing=routing,
        space=mark.space,
        text_hash=mark.hash,
        # It may quote the owner's value, and with it half a surrogate pair, which can't be written.
        reason=reason.encode("utf-8", "replace").decode(),
        attempts=before.attempts + 1 if before else 1,
        at=datetime.now(UTC).isoformat(),
        record=before.record if before else failure_id(target, doc_id, routing),
    )


def record_actions(failures: Iterable[Failure]) -> Iterator[Action]:
    """What writes the failures down."""
    for item in failures:
        source = msgspec.to_builtins(item)
        yield Action(op="index", index=FAILED_INDEX, id=source.pop("record"), source=source)


def forget_actions(failures: Iterable[Failure]) -> Iterator[Action]:
    """What removes failures that are over."""
    for item in failures:
        yield Action(op="delete", index=FAILED_INDEX, id=item.record)


def forget_failures(client: OpenSearch, uuid: str, field: str | None = None) -> None:
    """Remove what failed of an index, or of one of its vector fields: it is out of use."""
    terms = {"uuid": uuid, **({} if field is None else {"field": field})}
    client.delete_by_query(
        index=FAILED_INDEX,
        body={"query": {"bool": {"filter": [{"term": {name: value}} for name, value in terms.items()]}}},
        params={"ignore_unavailable": "true", "conflicts": "proceed", "refresh": "true"},
    )


def ensure_failed_index(client: OpenSearch) -> None:
    """Make the index of failures, if there is none: before the first is written."""
    ensure_index(client, FAILED_INDEX, failed_body())


def read_failures(
    client: OpenSearch, target: EmbeddedField, hints: Iterable[Hint], *, retry: Retry = PATIENT
) -> dict[Hint, Failure]:
    """What is known to have failed of these documents."""
    asked = set(hints)
    # Older versions knew a document with a routing by its id alone, too.
    records = {failure_id(target, doc_id, known) for doc_id, routing in asked for known in {routing, None}}
    found = get_documents(client, FAILED_INDEX, [(record, None) for record in sorted(records)], retry=retry)
    failures = (_failure(item) for item in found if item.get("found"))
    return {item.hint: item for item in failures if item.hint in asked}


def failures_by_reason(
    client: OpenSearch, target: EmbeddedField, *, most: int = 10_000, retry: Retry = PATIENT
) -> dict[str, int]:
    """How often each reason stands among a field's failures, the most frequent first.

    Args:
        most: so many failures are read, about.
    """
    found: Counter[str] = Counter()
    for page in failure_pages(client, target, retry=retry):
        # OpenSearch's reasons may name the document: the same one of another document is no other reason.
        found.update(item.reason.replace(f"'{item.doc_id}'", "'…'") for item in page)
        if found.total() >= most:
            break
    return dict(found.most_common())


def failures_query(target: EmbeddedField) -> dict[str, Any]:
    """The failures of a vector field, in its present space."""
    terms: Mapping[str, str] = {"uuid": target.uuid, "field": target.field, "space": target.space.id}
    return {"bool": {"filter": [{"term": {name: value}} for name, value in terms.items()]}}


def failure_pages(
    client: OpenSearch, target: EmbeddedField, *, retry: Retry = PATIENT
) -> Iterator[list[Failure]]:
    """The failures of a vector field in its present space, as far as they are searchable."""
    after: list[Any] | None = None
    while True:
        body: dict[str, Any] = {
            "query": failures_query(target),
            "sort": [{"doc_id": "asc"}, {"routing": "asc"}],
            "size": _PAGE,
            "track_total_hits": False,
        }
        if after is not None:
            body["search_after"] = after
        hits = search(client, FAILED_INDEX, body, retry=retry)["hits"]["hits"]
        if hits:
            yield [_failure(hit) for hit in hits]
            after = hits[-1]["sort"]
        if len(hits) < _PAGE:
            return


def _failure(found: Mapping[str, Any]) -> Failure:
    """A record as OpenSearch shows it."""
    return msgspec.convert({**found["_source"], "record": found["_id"]}, Failure)
