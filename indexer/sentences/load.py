"""Sentences of trials into their own index: one document a sentence, written before its trial.

A trial is written after its sentences, and only if all of them got in: the trial's mark says that the whole
is there, so that a load that was interrupted in between does it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.bulk import Action, stream_bulk
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.hints import needs_vector
from trifuse.indexer.mapping import SENTENCE_FILTERS, sentence_index, sentence_mapping
from trifuse.indexer.outcomes import require_unblocked
from trifuse.indexer.prepare import Prepared, canonical, content_hash, embedded_hash
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.report import SentenceCounts
from trifuse.indexer.retry import Retry, retrying
from trifuse.indexer.sentences.split import sentences_of

SENTENCE_TEMPLATE = TextTemplate(("text",))
_PAGE = 5000


class SentenceResult(msgspec.Struct):
    """What became of the sentences of a batch.

    Args:
        failed: trial id to the first reason why a sentence of it was refused.
        pending: ids of sentences that lack a vector now.
    """

    failed: dict[str, str]
    pending: list[str]


def sentence_documents(trial: Prepared) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and document of each sentence: `NCT1#eligibility#0` is the first one of that section."""
    filters = {field: trial.source[field] for field in SENTENCE_FILTERS}
    ordinals: dict[str, int] = defaultdict(int)
    for sentence in sentences_of(trial.record.trial):
        ordinal = ordinals[sentence.section]
        ordinals[sentence.section] += 1
        document = {"parent_id": trial.id, "ordinal": ordinal, **msgspec.structs.asdict(sentence), **filters}
        yield f"{trial.id}#{sentence.section}#{ordinal}", document


class SentenceLoader:
    """Writes the sentences of trials beside the index of the trials."""

    def __init__(self, client: OpenSearch, index: str, space: Space, retry: Retry) -> None:
        self.index = _sentences_of(client, index)
        self.space = Space(space.encoder, SENTENCE_TEMPLATE)
        self.counts = SentenceCounts()
        self._client = client
        self._retry = retry
        ensure_index(client, self.index, sentence_mapping(self.space))
        _link(client, index, self.index)

    def write(self, trials: Sequence[Prepared]) -> SentenceResult:
        """Make the index hold exactly the sentences of these trials; what it has already isn't written."""
        found = self._existing([trial.id for trial in trials])
        result = SentenceResult({}, [])
        pending: dict[str, bool] = {}
        for outcome in stream_bulk(self._client, self._actions(trials, found, pending), retry=self._retry):
            sentence, deleted = outcome.action.id, outcome.action.op == "delete"
            require_unblocked(outcome)
            if not outcome.ok:
                parent = sentence.rsplit("#", 2)[0]
                result.failed.setdefault(parent, f"sentence {sentence!r}: {outcome.reason}")
            elif deleted:
                self.counts.deleted += 1
            else:
                self.counts.indexed += 1
                if pending[sentence]:
                    result.pending.append(sentence)
        return result

    def _actions(
        self, trials: Sequence[Prepared], found: dict[str, Mapping[str, Any]], pending: dict[str, bool]
    ) -> Iterator[Action]:
        for trial in trials:
            for sentence, document in sentence_documents(trial):
                marks = found.pop(sentence, {})
                record = content_hash(canonical(document))
                if marks.get("record") == record:
                    self.counts.unchanged += 1
                    continue
                embedded, _ = embedded_hash(document, SENTENCE_TEMPLATE)
                pending[sentence] = needs_vector(marks, VECTOR_FIELD, self.space, embedded)
                yield Action(
                    op="update",
                    index=self.index,
                    id=sentence,
                    source={**document, MARKS: {"record": record}},
                    upsert=True,
                    retry_on_conflict=3,
                )
        for sentence in found:
            yield Action(op="delete", index=self.index, id=sentence)

    def _existing(self, parents: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Sentence id to marks, of all sentences of these trials that the index has."""
        self._ask("refreshing", lambda: self._client.indices.refresh(index=self.index))
        body: dict[str, Any] = {
            "size": _PAGE,
            "_source": [MARKS],
            "query": {"terms": {"parent_id": list(parents)}},
            "sort": ["parent_id", "section", "ordinal"],
        }
        found: dict[str, Mapping[str, Any]] = {}
        while True:
            answer = self._ask("searching", lambda: self._client.search(index=self.index, body=body))
            hits = answer["hits"]["hits"]
            found.update((hit["_id"], hit["_source"].get(MARKS) or {}) for hit in hits)
            if len(hits) < _PAGE:
                return found
            body["search_after"] = hits[-1]["sort"]

    def _ask(self, what: str, call: Callable[[], Any]) -> Any:
        return retrying(call, what=f"{what} index {self.index!r}", retry=self._retry)


def _sentences_of(client: OpenSearch, index: str) -> str:
    """The index of the sentences that the trials' mapping names, else the one to make.

    The same by the index's name and by an alias: else each would get sentences of its own.
    """
    ((name, entry),) = client.indices.get_mapping(index=index).items()
    known: str | None = ((entry["mappings"].get("_meta") or {}).get("trifuse") or {}).get("sentences")
    return known or sentence_index(name)


def _link(client: OpenSearch, index: str, sentences: str) -> None:
    """Name the index of the sentences in the `_meta` of the trials' mapping."""
    for name, entry in client.indices.get_mapping(index=index).items():
        meta = dict(entry["mappings"].get("_meta") or {})
        if (meta.get("trifuse") or {}).get("sentences") != sentences:
            meta["trifuse"] = {**(meta.get("trifuse") or {}), "sentences": sentences}
            client.indices.put_mapping(index=name, body={"_meta": meta})


def count_sentences(items: Iterable[Record | Rejection]) -> int:
    """How many sentences these records have."""
    return sum(1 for item in items if isinstance(item, Record) for _ in sentences_of(item.trial))
