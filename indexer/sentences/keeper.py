"""Keep the sentences of one index in step with their parents.

Parents are read shard by shard in the order in which they were last written, from a cursor of the sentences'
own. After a page of sentences is written, their parents are looked at once more: of two keepers at once the
slower one could else write the sentences of an older version over those of a newer one. A cursor moves when
a page is done, so that what was interrupted goes on there.

Parents that were deleted leave no trace in that order: their sentences are found by comparing ids, where the
index has fewer documents than the last time, and once an hour in any case.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.cursors import Shard, count_written, read_shards
from trifuse.indexer.hints import Hint
from trifuse.indexer.pending import Found, pages
from trifuse.indexer.progress import Step
from trifuse.indexer.reading import PATIENT, get_documents, refresh
from trifuse.indexer.retry import retrying
from trifuse.indexer.sentences.kept import Kept, forget_kept, keep, read_kept
from trifuse.indexer.sentences.origin import Origin
from trifuse.indexer.sentences.parents import Place, named_parents
from trifuse.indexer.sentences.texts import parent_of, source_fields
from trifuse.indexer.sentences.write import SentenceWriter

PAGE = 100
"""Parents read and written at a time: their texts may be long."""

COMPARE_EVERY_S = 3600.0

_ROUNDS = 5

_log = logging.getLogger(__name__)


class SentenceReport(msgspec.Struct, frozen=True):
    """What became of sentences.

    Args:
        written, unchanged, deleted: sentences of the parents that were read.
        failed: parents that a sentence of was refused, now or earlier; they are tried again when they are
            written again, and by a full pass.
        reason: why the first of these was refused; "" where none was.
    """

    written: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    reason: str = ""

    def __add__(self, other: SentenceReport) -> SentenceReport:
        return SentenceReport(
            self.written + other.written,
            self.unchanged + other.unchanged,
            self.deleted + other.deleted,
            self.failed + other.failed,
            self.reason or other.reason,
        )


class Keeper:
    """Keeps the sentences of one concrete index."""

    def __init__(
        self,
        client: OpenSearch,
        index: str,
        origin: Origin,
        sentences: str,
        field: str,
        space: Space,
    ) -> None:
        self._client = client
        self._index = index
        self._origin = origin
        self._sentences = sentences
        self._writer = SentenceWriter(client, sentences, field, space, PATIENT)
        self._fields = source_fields(origin)
        self._refused: dict[Hint, str] = {}

    @property
    def report(self) -> SentenceReport:
        """What was done so far."""
        counts = self._writer.counts
        failed, reason = len(self._refused), next(iter(self._refused.values()), "")
        return SentenceReport(counts.indexed, counts.unchanged, counts.deleted, failed, reason)

    def run(self, *, full: bool) -> Iterator[Step]:
        """One pass; how far it is after each page, where it may be left to go on the next time."""
        if full:
            forget_kept(self._client, self._origin)
        kept = read_kept(self._client, self._origin)
        self._refused = kept.refusals()
        starts = self._changed(kept)
        total = sum(count_written(self._client, self._index, shard, after) for shard, after in starts)
        done = 0
        for shard, after in starts:
            for page in pages(
                self._client,
                self._index,
                shard.number,
                {"match_all": {}},
                after=after,
                upto=shard.checkpoint,
                source=self._fields,
                size=PAGE,
            ):
                self._write(page)
                kept.reach(shard, page[-1].seq_no)
                self._keep(kept)
                done += len(page)
                yield Step("splitting", self._sentences, max(total, done), done)
            kept.reach(shard, shard.checkpoint)
            self._keep(kept)
        documents = self._documents()
        due = not 0 <= time.time() - kept.compared < COMPARE_EVERY_S
        if due or kept.comparing or documents < kept.documents:
            for last in self._compare(kept.comparing):
                kept.comparing = last
                self._keep(kept)
                yield Step("splitting", self._sentences, total, total)
            self._let_go()
            kept.compared, kept.comparing, kept.documents = time.time(), None, documents
            self._keep(kept)
        elif documents != kept.documents:
            kept.documents = documents
            self._keep(kept)
        if self._refused:
            _log.warning(
                "%d documents of %s have sentences that were refused: %s",
                self.report.failed,
                self._index,
                self.report.reason,
            )

    def _changed(self, kept: Kept) -> list[tuple[Shard, int]]:
        """The shards that were written to since, and up to where they were read.

        A search now sees their writes up to the checkpoint.
        """
        found = ((shard, shard.after(kept.shards)) for shard in read_shards(self._client, self._index))
        changed = [(shard, after) for shard, after in found if shard.checkpoint > after]
        if changed:
            refresh(self._client, self._index)
        return changed

    def _keep(self, kept: Kept) -> None:
        keep(self._client, self._origin, kept, self._refused)

    def _write(self, page: Sequence[Found]) -> None:
        """Write the sentences of a page, and again of those parents that were written meanwhile."""
        failed: dict[str, str] = {}
        hints = [found.hint for found in page]
        for _ in range(_ROUNDS):
            if not page:
                break
            for found in page:
                failed.pop(found.id, None)
            parents = [parent_of(found.id, found.routing, found.source, self._origin) for found in page]
            failed.update(self._writer.write(parents, only_known=self._origin.chosen).failed)
            page = self._moved(page)
        for hint in hints:
            self._refused.pop(hint, None)
            if hint[0] in failed:
                self._refused[hint] = failed[hint[0]]

    def _let_go(self) -> None:
        """Forget refusals of parents that are gone: of one without any sentence no comparison tells."""
        hints = list(self._refused)
        for hint, item in zip(
            hints, get_documents(self._client, self._index, hints, source=False), strict=True
        ):
            if not item.get("found"):
                del self._refused[hint]

    def _moved(self, page: Sequence[Found]) -> list[Found]:
        """Those with other texts or filters than the ones that were read."""
        versions = self._get(page, source=False)
        moved = [found for found, item in zip(page, versions, strict=True) if _version(item) != found.seq_no]
        now = zip(moved, self._get(moved, source=self._fields), strict=True)
        return [
            Found(found.id, found.routing, _version(item), item.get("_source") or {})
            for found, item in now
            if (item.get("_source") or {}) != found.source
        ]

    def _get(self, page: Sequence[Found], *, source: Sequence[str] | bool) -> list[dict[str, Any]]:
        return get_documents(self._client, self._index, [found.hint for found in page], source=source)

    def _compare(self, after: Place | None) -> Iterator[Place]:
        """Remove the sentences of parents that are gone; the last of each page of parents."""
        for parents in named_parents(self._client, self._sentences, after):
            items = self._get(parents, source=False)
            self._write(
                [parent for parent, item in zip(parents, items, strict=True) if not item.get("found")]
            )
            yield {"id": parents[-1].id, "routing": parents[-1].routing}

    def _documents(self) -> int:
        counted: dict[str, Any] = retrying(
            lambda: self._client.count(index=self._index),
            what=f"counting the documents of the index {self._index!r}",
            retry=PATIENT,
        )
        return int(counted["count"])


def _version(item: Mapping[str, Any]) -> int:
    """The `_seq_no` of a document; -1 where it is gone."""
    return int(item["_seq_no"]) if item.get("found") else -1
