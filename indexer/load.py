"""Load trials: searchable by BM25 at once, the vectors follow from the workers.

The index is the record of what is done: a record is written where its hash differs from the one that stands
in the document's mark, so loading the same file again writes nothing, and a load that was interrupted goes on
where it was when it is started again. A changed document keeps its vector until a worker replaces it; that it
is stale shows in the hash of its text.

Two loads at once: both write with upserts that OpenSearch serialises. Of two different records with one id
the last one written wins; two equal ones make one version, and the later load counts it as unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import Space
from trifuse.indexer.bulk import MAX_BYTES, Action, content_limit, stream_bulk
from trifuse.indexer.embedded import EmbeddedField, embedded_fields
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.errors import HintsUndelivered, IndexNotOurs
from trifuse.indexer.hints import Enqueue, needs_vector
from trifuse.indexer.mapping import TRIAL_FIELDS, trial_mapping
from trifuse.indexer.outcomes import require_unblocked
from trifuse.indexer.part_fields import add_part_fields
from trifuse.indexer.prepare import Prepared, batches, embedded_hash
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.refresh import rare_refreshes
from trifuse.indexer.report import DeadLetters, FieldCounts, LoadReport
from trifuse.indexer.retry import Retry, retrying
from trifuse.indexer.sentences.load import SentenceLoader

_FEW = 20  # fewer records than this say nothing about a field that none of them fills


def load(
    client: OpenSearch,
    items: Iterable[Record | Rejection],
    index: str,
    *,
    space: Space,
    enqueue: Enqueue | None = None,
    dead_letter: Path | None = None,
    progress: Callable[[LoadReport], None] | None = None,
    sentences: bool = False,
    part_vectors: Sequence[str] = (),
    limit: int | None = None,
    batch_items: int = 128,
    retry: Retry = Retry(),  # noqa: B008 - frozen
) -> LoadReport:
    """Write trials into an index, which is made if it is missing.

    Args:
        items: what `read_trials` yields.
        space: of the index's vectors; only its name and template matter here, nothing is encoded.
        enqueue: queues what lacks a vector; without it `trifuse sync` finds that later.
        dead_letter: the file for rejected records.
        progress: is called with the report so far after each batch.
        sentences: also write each sentence, into an index of its own.
        part_vectors: parts whose own vectors are kept beside those of whole trials, by an encoder of parts.
        limit: stop after so many items.
        batch_items: records that are looked up and written together.

    Raises:
        SpaceMismatch: the index has vectors of another space; nothing was written.
        IndexNotOurs: the index exists and has no vectors of ours; nothing was written.
        IndexBlocked: the index takes no writes.
        ServerUnavailable: OpenSearch was away for longer than the retries last. What was written stays; do
            the same again.
    """
    fresh = ensure_index(client, index, trial_mapping(space))
    add_part_fields(client, index, part_vectors)
    loader = _Loader(client, index, space, enqueue, dead_letter, sentences, retry)
    used_before = frozenset() if fresh else _fields_in_use(client, index, retry)
    with ExitStack() as stack:
        for name in loader.indexes:
            stack.enter_context(rare_refreshes(client, name))
        for batch in batches(
            islice(items, limit), space.template, max_items=batch_items, max_bytes=MAX_BYTES
        ):
            loader.write(batch)
            if progress is not None:
                progress(loader.report)
    return loader.finish(used_before)


class _Loader:
    """One load: its batches are written one after the other, and counted."""

    def __init__(
        self,
        client: OpenSearch,
        index: str,
        space: Space,
        enqueue: Enqueue | None,
        dead_letter: Path | None,
        sentences: bool,
        retry: Retry,
    ) -> None:
        self.report = LoadReport(index=index)
        self._client = client
        self._index = index
        self._space = space
        self._enqueue = enqueue
        self._retry = retry
        self._limit = content_limit(client)
        self._dead = DeadLetters(dead_letter)
        self._fields = FieldCounts()
        self.report.unknown_fields = self._fields.unknown
        self._seen: set[str] = set()
        self._targets = embedded_fields(client, index)
        self._sentences = SentenceLoader(client, index, space, retry) if sentences else None
        if self._sentences is not None:
            self.report.sentences = self._sentences.counts

    @property
    def indexes(self) -> tuple[str, ...]:
        """The indexes that are written to."""
        return (self._index,) if self._sentences is None else (self._index, self._sentences.index)

    def write(self, batch: Sequence[Prepared | Rejection]) -> None:
        """Write one batch, in which no id occurs twice."""
        report = self.report
        report.read += len(batch)
        try:
            for item in batch:
                if isinstance(item, Rejection):
                    self._reject(item)
                else:
                    self._count(item)
            trials = self._write_sentences([item for item in batch if isinstance(item, Prepared)])
            if trials:
                self._write_trials(trials)
        except BaseException:  # Ctrl-C too: what the batch had not come to is read again by the next load
            report.read = report.indexed + report.unchanged + len(report.rejected)
            raise

    def _write_trials(self, trials: Sequence[Prepared]) -> None:
        marks = self._marks(trials)
        changed = [trial for trial in trials if marks[trial.id].get("record") != trial.record_hash]
        self.report.unchanged += len(trials) - len(changed)
        written: list[Prepared] = []
        actions = (self._action(trial) for trial in changed)
        for outcome in stream_bulk(self._client, actions, limit=self._limit, retry=self._retry):
            trial = changed[outcome.position]
            require_unblocked(outcome)
            if not outcome.ok:
                self._refuse(trial, f"{outcome.error}: {outcome.reason}")
            elif outcome.result == "noop":  # another load wrote the same since
                self.report.unchanged += 1
            else:
                self.report.indexed += 1
                written.append(trial)
        for target in self._targets:  # two while the index is being embedded anew; those of parts
            pending = [trial.id for trial in written if self._is_pending(trial, marks[trial.id], target)]
            self._hint(self._index, target.field, target.space, pending)

    def finish(self, used_before: frozenset[str]) -> LoadReport:
        """The report, after the last batch; what was written can be searched now."""
        if self.report.indexed or self._sentences is not None:
            self._client.indices.refresh(index=",".join(self.indexes))
        if self._fields.records >= _FEW:
            self.report.newly_empty_fields = sorted(used_before - self._fields.filled)
        return self.report

    def _count(self, trial: Prepared) -> None:
        self.report.duplicates += trial.id in self._seen
        self._seen.add(trial.id)
        self.report.truncated += trial.truncated
        self._fields.add(trial.source, trial.record.unknown)

    def _write_sentences(self, trials: list[Prepared]) -> list[Prepared]:
        """The trials whose sentences are all in the index, so that they may be written too."""
        if self._sentences is None or not trials:
            return trials
        result = self._sentences.write(trials)
        self._hint(self._sentences.index, self._sentences.field, self._sentences.space, result.pending)
        for trial in trials:
            if trial.id in result.failed:
                self._refuse(trial, result.failed[trial.id])
        return [trial for trial in trials if trial.id not in result.failed]

    def _marks(self, trials: Sequence[Prepared]) -> dict[str, dict[str, Any]]:
        """Id to what the index says of the document; {} where it isn't there."""
        answer = retrying(
            lambda: self._client.mget(
                index=self._index, body={"ids": [trial.id for trial in trials]}, _source_includes=MARKS
            ),
            what=f"reading from index {self._index!r}",
            retry=self._retry,
        )
        for document in answer["docs"]:
            if "error" in document:
                # Writing on would make the index again, without its mapping.
                raise IndexNotOurs(
                    f"index {self._index!r} can't be read any more: {document['error']['reason']}"
                )
        return {
            document["_id"]: (document.get("_source") or {}).get(MARKS) or {} for document in answer["docs"]
        }

    def _action(self, trial: Prepared) -> Action:
        source = {**trial.source, MARKS: {"record": trial.record_hash}}
        return Action(
            op="update", index=self._index, id=trial.id, source=source, upsert=True, retry_on_conflict=3
        )

    def _is_pending(self, trial: Prepared, marks: Mapping[str, Any], target: EmbeddedField) -> bool:
        template = target.space.template
        same = template == self._space.template
        text_hash = trial.text_hash if same else embedded_hash(trial.source, template)[0]
        return needs_vector(marks, target.field, target.space, text_hash)

    def _refuse(self, trial: Prepared, reason: str) -> None:
        record = trial.record
        self._reject(Rejection(record.source, record.line, trial.id, reason), trial.source)

    def _reject(self, rejection: Rejection, document: Mapping[str, Any] | None = None) -> None:
        self.report.rejected.append(rejection)
        self.report.dead_letter = self._dead.write(rejection, document)

    def _hint(self, index: str, field: str, space: Space, ids: Sequence[str]) -> None:
        if self._enqueue is None or not ids:
            return
        try:
            self._enqueue(index, field, space, [(document, None) for document in ids])
        except HintsUndelivered as error:
            self.report.hints_error = str(error)
            self._enqueue = None  # `trifuse sync` queues the rest: don't wait for the broker at every batch
        else:
            self.report.hinted += len(ids)


def _fields_in_use(client: OpenSearch, index: str, retry: Retry) -> frozenset[str]:
    """The fields of a trial that at least one document of the index fills."""
    filters = {field: {"filter": {"exists": {"field": field}}} for field in TRIAL_FIELDS}
    answer = retrying(  # an index that another load has just made answers 503 for a moment
        lambda: client.search(index=index, body={"size": 0, "aggs": filters}),
        what=f"searching index {index!r}",
        retry=retry,
    )
    return frozenset(field for field, found in answer["aggregations"].items() if found["doc_count"])
