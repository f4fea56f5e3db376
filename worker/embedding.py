"""Embed documents: read them, encode their texts, write the vectors if nobody wrote meanwhile.

A vector is written only to the version of the document that its text was read from. Where another writer was
faster, the document is read again: the vector is reused if the text is the same, and made anew if it isn't.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH, mark
from trifuse.encoder.spaces import require_same_space
from trifuse.encoder.types import Encoder
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.indexer.embedded import EmbeddedField, embedded_field
from trifuse.indexer.failures import (
    Failure,
    ensure_failed_index,
    failure,
    forget_actions,
    read_failures,
    record_actions,
)
from trifuse.indexer.hints import Hint
from trifuse.indexer.outcomes import ItemOutcome
from trifuse.worker.documents import Document, read_documents
from trifuse.worker.encoding import encode_each

ROUNDS = 5
"""How often a document is read again that others keep writing."""

_UNREACHABLE = (
    "searches show it, but its id and routing don't lead to it: OpenSearch keeps half a surrogate pair in "
    "them as U+FFFD; write the document again under another id, and delete this one by a query"
)

Row = NDArray[np.float32]


class EmbedReport(msgspec.Struct, frozen=True):
    """What became of the documents of one call.

    Args:
        embedded: got their vector.
        emptied: have no text, and were marked so.
        current: were as they should be.
        failed: can't be embedded, now or already known; recorded in `trifuse-failed`.
        gone: aren't in the index.
        unfinished: are still pending: others kept writing them, or OpenSearch had no room.
        crowded: writes that OpenSearch had no room for at first, or at all.
        truncated: texts of which the encoder saw only the beginning.
    """

    embedded: int = 0
    emptied: int = 0
    current: int = 0
    failed: int = 0
    gone: int = 0
    unfinished: tuple[Hint, ...] = ()
    crowded: int = 0
    truncated: int = 0


def embed(
    client: OpenSearch, encoder: Encoder, index: str, field: str, ids: Sequence[Hint], *, rounds: int = ROUNDS
) -> EmbedReport:
    """Bring the vectors of these documents up to date.

    Args:
        client: of the search service.
        encoder: must be of the field's space.
        index: a concrete index.
        field: the vector field.
        ids: documents and their routing; a wrong routing is put right.
        rounds: how often documents are read again that others write at the same time.

    Raises:
        IndexMissing, IndexNotOurs: there is no such index or field.
        SpaceMismatch: the encoder, or the field's dimension, isn't of the field's space; nothing was encoded.
        EncodingFailed: the model fails whatever it is given.
        ServerUnavailable, TransportError: OpenSearch didn't answer, or refused.
    """
    target = embedded_field(client, index, field)
    require_same_space(
        encoder.space,
        target.space.encoder,
        what=f"the vector field {field!r} of the index {index!r}",
        role=target.space.template.role,
    )
    return _Batch(client, encoder, target).run(list(dict.fromkeys(ids)), rounds)


def give_up(client: OpenSearch, index: str, field: str, ids: Sequence[Hint], reason: str) -> int:
    """Record that documents can't be embedded as they are, without trying; how many were pending.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `embed`.
        ServerUnavailable, TransportError: OpenSearch didn't answer, or refused.
    """
    target = embedded_field(client, index, field)
    documents = [
        item for item in read_documents(client, target, ids) if item.state not in ("current", "empty")
    ]
    known = read_failures(client, target, [item.hint for item in documents])
    found = [
        failure(target, item.hint, item.wanted, reason, before=known.get(item.hint)) for item in documents
    ]
    if found:
        ensure_failed_index(client)
        bulk(client, record_actions(found))
    return len(found)


class _Batch:
    """The vectors made so far, by the hash of their text, and what became of the documents."""

    def __init__(self, client: OpenSearch, encoder: Encoder, target: EmbeddedField) -> None:
        self._client = client
        self._encoder = encoder
        self._target = target
        self._vectors: dict[str, Row] = {}
        self._rejected: dict[str, str] = {}
        self._known: dict[Hint, Failure] = {}
        self._tally: Counter[str] = Counter()

    def run(self, todo: list[Hint], rounds: int) -> EmbedReport:
        waiting: list[Hint] = []
        for _ in range(rounds):
            todo, crowded = self._round(todo)
            waiting += crowded
            if not todo:
                break
        return EmbedReport(**self._tally, unfinished=(*waiting, *todo))

    def _round(self, todo: Sequence[Hint]) -> tuple[list[Hint], list[Hint]]:
        """Do what can be done; what is left to read again, and what the server had no room for."""
        documents = read_documents(self._client, self._target, todo)
        self._known = read_failures(self._client, self._target, [document.hint for document in documents])
        self._tally["gone"] += max(0, len(todo) - len(documents))
        pending = [document for document in documents if self._is_pending(document)]
        work = [document for document in pending if document.reachable]
        self._encode(work)
        refused = [(document, _UNREACHABLE) for document in pending if not document.reachable]
        refused += [
            (document, self._rejected[document.wanted.hash])
            for document in work
            if document.wanted.hash in self._rejected
        ]
        sent = [document for document in work if document.wanted.hash not in self._rejected]
        outcome = bulk(self._client, (self._update(document) for document in sent))
        written: list[Document] = []
        again: list[Hint] = []
        crowded: list[Hint] = []
        self._tally["crowded"] += sum(item.attempts > 1 or item.retryable for item in outcome.items)
        for document, item in zip(sent, outcome.items, strict=True):
            match _verdict(item):
                case "ok":
                    self._tally["embedded" if document.text else "emptied"] += 1
                    written.append(document)
                case "conflict":
                    again.append(document.hint)
                case "crowded":
                    crowded.append(document.hint)
                case "gone":
                    self._tally["gone"] += 1
                case _:
                    refused.append((document, f"{item.error}: {item.reason}"))
        self._tally["failed"] += len(refused)
        self._keep_failures(refused, written)
        return again, crowded

    def _is_pending(self, document: Document) -> bool:
        known = self._known.get(document.hint)
        if document.state in ("current", "empty"):
            self._tally["current"] += 1
        elif known is not None and known.mark == document.wanted:
            self._tally["failed"] += 1
        else:
            return True
        return False

    def _encode(self, documents: Iterable[Document]) -> None:
        """Make the vectors that aren't made yet, in one call."""
        texts = {
            document.wanted.hash: document.text
            for document in documents
            if document.text and document.wanted.hash not in self._vectors
        }
        if not texts:
            return
        role, field = self._target.space.template.role, self._target.field
        encoding = encode_each(self._encoder, list(texts.values()), role, field=field)
        self._tally["truncated"] += int(encoding.truncated.sum())
        for row, key in enumerate(texts):
            if row in encoding.rejected:
                self._rejected[key] = encoding.rejected[row]
            else:
                self._vectors[key] = encoding.vectors[row]

    def _update(self, document: Document) -> Action:
        """Write the vector and the mark; or, without a text, the mark of emptiness and no vector."""
        field, wanted = self._target.field, document.wanted
        source: dict[str, Any] = mark(field, wanted.space, wanted.hash)
        if wanted.hash != EMPTY_HASH:
            source[field] = self._vectors[wanted.hash]
        elif document.has_vector:
            source[field] = None
        return Action(
            op="update",
            index=self._target.index,
            id=document.id,
            routing=document.routing,
            source=source,
            if_seq_no=document.seq_no,
            if_primary_term=document.primary_term,
        )

    def _keep_failures(self, refused: Sequence[tuple[Document, str]], written: Iterable[Document]) -> None:
        over = [self._known[document.hint] for document in written if document.hint in self._known]
        if not refused and not over:
            return
        new = [
            failure(
                self._target,
                document.hint,
                document.wanted,
                reason,
                before=self._known.get(document.hint),
            )
            for document, reason in refused
        ]
        if new:
            ensure_failed_index(self._client)
        bulk(self._client, chain(record_actions(new), forget_actions(over)))


def _verdict(item: ItemOutcome) -> str:
    if item.ok:
        return "ok"
    if item.status == 409:
        return "conflict"
    if item.status == 404 and item.error == "document_missing_exception":
        return "gone"
    # 403 is a block on the whole index: no fault of this document.
    return "crowded" if item.retryable or item.status == 403 else "refused"
