"""What a load says of itself: counts, and each record that didn't get in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from trifuse.indexer.readers import Rejection


class SentenceCounts(msgspec.Struct):
    """What became of the sentences of the loaded trials."""

    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0


class LoadReport(msgspec.Struct, kw_only=True):
    """What became of the records of a load: always `read == indexed + unchanged + len(rejected)`.

    Args:
        read: records, and things that stood where a record was expected.
        indexed: written, since they were new or had changed. Of several records with one id each that differs
            from the one before it is written and counted: the last wins.
        unchanged: as the index has them already; nothing was written.
        rejected: what a reader or OpenSearch refused, and why.
        truncated: records whose embedded text the template's `max_chars` cut.
        unknown_fields: path to the number of records that have it though no schema knows it.
        newly_empty_fields: fields that no record of this load fills, though documents of the index had them:
            a sign that a source has changed its schema.
        duplicates: records whose id stood in this load before.
        hinted: documents that were queued for the workers.
        hints_error: why hints stopped; `trifuse sync` queues what is pending.
        sentences: None where none were asked for.
        dead_letter: the file with the rejected records; None where there are none.
    """

    index: str
    read: int = 0
    indexed: int = 0
    unchanged: int = 0
    rejected: list[Rejection] = msgspec.field(default_factory=list)
    truncated: int = 0
    unknown_fields: dict[str, int] = msgspec.field(default_factory=dict)
    newly_empty_fields: list[str] = msgspec.field(default_factory=list)
    duplicates: int = 0
    hinted: int = 0
    hints_error: str | None = None
    sentences: SentenceCounts | None = None
    dead_letter: str | None = None


class DeadLetters:
    """The file that rejected records are appended to, one JSON object a line; made with the first of them.

    {"source": "studies.json", "line": 7, "id": "NCT1", "reason": "...", "record": {...}}

    `record` is the trial in its normal form, where it could be read that far. A file of an earlier load is
    removed at the start.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        if path is not None:
            path.unlink(missing_ok=True)

    def write(self, rejection: Rejection, record: Mapping[str, Any] | None = None) -> str | None:
        """Append one, and say to which file: it is on disk when this returns."""
        if self._path is None:
            return None
        line = {**msgspec.structs.asdict(rejection), **({} if record is None else {"record": record})}
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        return str(self._path)


class FieldCounts:
    """Which fields the records of a load fill, and which no schema knows."""

    def __init__(self) -> None:
        self.records = 0
        self.filled: set[str] = set()
        self.unknown: dict[str, int] = {}

    def add(self, source: Mapping[str, Any], unknown: tuple[str, ...]) -> None:
        """Count one record."""
        self.records += 1
        self.filled.update(field for field, value in source.items() if value not in (None, [], "", ()))
        for path in unknown:
            self.unknown[path] = self.unknown.get(path, 0) + 1
