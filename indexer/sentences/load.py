"""Sentences of trials into their own index: one document a sentence, written before its trial.

A trial is written after its sentences, and only if all of them got in: the trial's mark says that the whole
is there, so that a load that was interrupted in between does it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.ensure import serving_of
from trifuse.indexer.mapping import SENTENCE_FILTERS
from trifuse.indexer.prepare import Prepared
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.report import SentenceCounts
from trifuse.indexer.retry import Retry
from trifuse.indexer.sentences.attach import make_trial_sentences
from trifuse.indexer.sentences.split import sentences_of
from trifuse.indexer.sentences.texts import Parent, sentence_documents
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE, SentenceResult, SentenceWriter


class SentenceLoader:
    """Writes the sentences of trials beside the index of the trials."""

    def __init__(self, client: OpenSearch, index: str, space: Space, retry: Retry) -> None:
        self.space = Space(space.encoder, SENTENCE_TEMPLATE)
        self.index = make_trial_sentences(client, index, self.space)
        self.field = serving_of(client, self.index)
        self._writer = SentenceWriter(client, self.index, self.field, self.space, retry)

    @property
    def counts(self) -> SentenceCounts:
        """What became of all sentences so far."""
        return self._writer.counts

    def write(self, trials: Sequence[Prepared]) -> SentenceResult:
        """Make the index hold exactly the sentences of these trials; what it has already isn't written."""
        return self._writer.write([_parent(trial) for trial in trials])


def _parent(trial: Prepared) -> Parent:
    filters = {field: trial.source[field] for field in SENTENCE_FILTERS}
    return Parent(trial.id, None, sentence_documents(trial.id, sentences_of(trial.record.trial), filters))


def count_sentences(items: Iterable[Record | Rejection]) -> int:
    """How many sentences these records have."""
    return sum(1 for item in items if isinstance(item, Record) for _ in sentences_of(item.trial))
