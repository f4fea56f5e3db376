"""Make an index of sentences hold exactly those of some parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, RECORD_PATH, hash_path, space_path
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.bulk import Action, stream_bulk
from trifuse.indexer.outcomes import require_unblocked
from trifuse.indexer.prepare import canonical, content_hash, embedded_hash
from trifuse.indexer.reading import refresh, search
from trifuse.indexer.report import SentenceCounts
from trifuse.indexer.retry import Retry
from trifuse.indexer.sentences.texts import Parent, sentence_id

SENTENCE_TEMPLATE = TextTemplate(("text",))

_PAGE = 5000
_SORT = [
    {"parent_id": "asc"},
    {"section": "asc"},
    {"ordinal": "asc"},
    {"parent_routing": {"order": "asc", "unmapped_type": "keyword"}},
]

Known = tuple[str, str, str]
"""The hashes of a sentence as it stands: of its document, and of its vector's space and text."""


class SentenceResult(msgspec.Struct):
    """What became of the sentences of a batch.

    Args:
        failed: id of a parent to the first reason why a sentence of it was refused.
        pending: ids of sentences that lack a vector now.
    """

    failed: dict[str, str]
    pending: list[str]


class SentenceWriter:
    """Writes the sentences of parents where they differ from what is there, and counts them.

    Args:
        field, space: the vector field of the sentences: what is written without its vector is pending.
    """

    def __init__(self, client: OpenSearch, index: str, field: str, space: Space, retry: Retry) -> None:
        self.counts = SentenceCounts()
        self._client = client
        self._index = index
        self._field = field
        self._space = space
        self._retry = retry

    def write(self, parents: Sequence[Parent], *, only_known: bool = False) -> SentenceResult:
        """Make the index hold exactly the sentences of these parents; what it has already isn't written.

        Args:
            only_known: leave out parents that it has no sentences of.
        """
        known = self._known([parent.id for parent in parents])
        if only_known:
            parents = [parent for parent in parents if (parent.id, parent.routing) in known]
        result = SentenceResult({}, [])
        owners: dict[str, str] = {}
        pending: set[str] = set()
        actions = self._actions(parents, known, owners, pending)
        for outcome in stream_bulk(self._client, actions, retry=self._retry):
            sentence = outcome.action.id
            require_unblocked(outcome)
            if not outcome.ok:
                result.failed.setdefault(owners[sentence], f"sentence {sentence!r}: {outcome.reason}")
            elif outcome.action.op == "delete":
                self.counts.deleted += 1
            else:
                self.counts.indexed += 1
                if sentence in pending:
                    result.pending.append(sentence)
        return result

    def _actions(
        self,
        parents: Sequence[Parent],
        known: dict[tuple[str, str | None], dict[str, Known]],
        owners: dict[str, str],
        pending: set[str],
    ) -> Iterator[Action]:
        for parent in parents:
            left = known.get((parent.id, parent.routing), {})
            for document in parent.documents:
                sentence = sentence_id(parent.id, parent.routing, document["section"], document["ordinal"])
                record, *vector = left.pop(sentence, ("", "", ""))
                wanted = content_hash(canonical(document))
                if record == wanted:
                    self.counts.unchanged += 1
                    continue
                owners[sentence] = parent.id
                if vector != [self._space.id, embedded_hash(document, SENTENCE_TEMPLATE)[0]]:
                    pending.add(sentence)
                yield Action(
                    op="update",
                    index=self._index,
                    id=sentence,
                    source={**document, MARKS: {"record": wanted}},
                    upsert=True,
                    retry_on_conflict=3,
                )
            for sentence in left:
                owners[sentence] = parent.id
                yield Action(op="delete", index=self._index, id=sentence)

    def _known(self, parents: Sequence[str]) -> dict[tuple[str, str | None], dict[str, Known]]:
        """The sentences of these parents that the index has, by their parent and its routing.

        Read from columns: `_source` holds the vectors.
        """
        # A write would make it again, without its mapping.
        refresh(self._client, self._index, must_exist=True, retry=self._retry)
        marks = (RECORD_PATH, space_path(self._field), hash_path(self._field))
        body: dict[str, Any] = {
            "size": _PAGE,
            "stored_fields": "_none_",
            "docvalue_fields": ["parent_id", "parent_routing", "section", "ordinal", *marks],
            "query": {"terms": {"parent_id": list(parents)}},
            "sort": _SORT,
            "track_total_hits": False,
        }
        found: dict[tuple[str, str | None], dict[str, Known]] = {}
        while True:
            hits = search(self._client, self._index, body, retry=self._retry)["hits"]["hits"]
            for hit in hits:
                parent, routing, section, ordinal, *known = (
                    _first(hit.get("fields") or {}, name) for name in body["docvalue_fields"]
                )
                record, space, text = (value or "" for value in known)
                sentence = sentence_id(parent, routing, section, ordinal)
                found.setdefault((parent, routing), {})[sentence] = record, space, text
            if len(hits) < _PAGE:
                return found
            body["search_after"] = hits[-1]["sort"]


def _first(fields: Mapping[str, Sequence[Any]], name: str) -> Any:
    return next(iter(fields.get(name) or ()), None)
