"""Records as documents: what is written of each, and the hashes by which a change is seen. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from trifuse.encoder.marks import EMPTY_HASH
from trifuse.encoder.templates import TextTemplate, build_text, text_hash
from trifuse.indexer.readers import Record, Rejection


class Prepared(msgspec.Struct, frozen=True):
    """A record, ready to be written.

    Args:
        source: the document without its marks.
        record_hash: of the document as it is written: another hash, another document.
        text_hash: of the text that is embedded, or `EMPTY_HASH`.
        truncated: whether the template's `max_chars` cut that text.
        size: the document's size in bytes as JSON.
    """

    record: Record
    source: Mapping[str, Any]
    record_hash: str
    text_hash: str
    truncated: bool
    size: int

    @property
    def id(self) -> str:
        """The document's id: the trial's."""
        return self.record.trial.nct_id


def content_hash(content: bytes) -> str:
    """32 hex digits of SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


def canonical(source: Mapping[str, Any]) -> bytes:
    """A document as JSON in one normal form, whatever the order of its keys."""
    return msgspec.json.encode(source, order="sorted")


def embedded_hash(source: Mapping[str, Any], template: TextTemplate) -> tuple[str, bool]:
    """The hash of a document's embedded text (`EMPTY_HASH` without any), and whether `max_chars` cut it."""
    whole = build_text(source, replace(template, max_chars=None))
    if not whole:
        return EMPTY_HASH, False
    cut = template.max_chars is not None and len(whole) > template.max_chars
    return text_hash(build_text(source, template) if cut else whole), cut


def prepare(record: Record, template: TextTemplate) -> Prepared | Rejection:
    """The record as a document; a rejection where it can't be written as JSON."""
    source = record.trial.source()
    try:
        content = canonical(source)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        reason = f"a text holds {character!r}, half of a surrogate pair, which JSON can't hold"
        return Rejection(record.source, record.line, record.trial.nct_id, reason)
    embedded, cut = embedded_hash(source, template)
    return Prepared(record, source, content_hash(content), embedded, cut, len(content))


def batches(
    items: Iterable[Record | Rejection], template: TextTemplate, *, max_items: int, max_bytes: int
) -> Iterator[list[Prepared | Rejection]]:
    """Items in groups that hold an id at most once, so that of two records with one id the later one wins.

    Args:
        max_items: a group has no more items.
        max_bytes: the documents of a group sum to no more, but a larger one stands alone.
    """
    batch: list[Prepared | Rejection] = []
    ids: set[str] = set()
    size = 0
    for item in items:
        ready = prepare(item, template) if isinstance(item, Record) else item
        new_id, new_size = (ready.id, ready.size) if isinstance(ready, Prepared) else (None, 0)
        if batch and (len(batch) == max_items or size + new_size > max_bytes or new_id in ids):
            yield batch
            batch, ids, size = [], set(), 0
        batch.append(ready)
        size += new_size
        if new_id is not None:
            ids.add(new_id)
    if batch:
        yield batch
