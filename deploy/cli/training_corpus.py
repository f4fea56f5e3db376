"""A collection of documents on the disk, so that training takes texts by id without holding them all."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from trifuse.deploy.errors import UnreadableCorpus
from trifuse.worker.clicks.files import LogFile

_BATCH = 10_000


class CorpusDocument(NamedTuple):
    """A document of a collection."""

    id: str
    title: str
    text: str


class Corpus:
    """Documents by id, in a database file that is deleted with its folder.

    Args:
        path: the database file to make.
        documents: read once; of two with the same id the later one stays.
    """

    def __init__(self, path: Path, documents: Iterable[CorpusDocument]) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(
            "CREATE TABLE documents (id TEXT PRIMARY KEY, title TEXT, text TEXT) WITHOUT ROWID"
        )
        rest = iter(documents)
        while batch := list(islice(rest, _BATCH)):
            self._database.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", batch)
        self._database.commit()

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM documents").fetchone()[0])

    def __contains__(self, document: object) -> bool:
        found = self._database.execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone()
        return found is not None

    def __iter__(self) -> Iterator[CorpusDocument]:
        for row in self._database.execute("SELECT id, title, text FROM documents ORDER BY id"):
            yield CorpusDocument(*row)

    def get(self, document: str) -> CorpusDocument:
        """The document of that id.

        Raises:
            UnreadableCorpus: there is none.
        """
        row = self._database.execute(
            "SELECT id, title, text FROM documents WHERE id = ?", (document,)
        ).fetchone()
        if row is None:
            raise UnreadableCorpus(
                f"the collection has no document {document!r}, which a triple or an index names: give the "
                "collection that they were made from (--corpus)"
            )
        return CorpusDocument(*row)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def read_corpus(path: str | Path) -> Iterator[CorpusDocument]:
    """The documents of a file, plain or gzip, one at a time.

    Lines of id, tab, text; of id, tab, title, tab, text; or BEIR's JSON lines `{"_id": ..., "title": ...,
    "text": ...}`.

    Raises:
        UnreadableCorpus: naming the file, the line, and what was expected.
    """
    file = LogFile(str(path), Path(path))
    number = 0
    try:
        with file.open() as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _document(line, f"{path}, line {number}")
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableCorpus(f"{path} can't be read after line {number}: {error}") from error
    if not number:
        raise UnreadableCorpus(f"{path}: there are no documents in it")


def _document(line: bytes, place: str) -> CorpusDocument:
    if line.lstrip().startswith(b"{"):
        try:
            value = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise UnreadableCorpus(f"{place}: no JSON: {error}") from error
        found = [value.get("_id", value.get("id")), value.get("title") or "", value.get("text")]
    else:
        found = [column.strip() for column in line.decode("utf-8", "replace").rstrip("\r\n").split("\t")]
        if len(found) == 2:
            found.insert(1, "")
    if len(found) != 3 or not all(isinstance(each, str) for each in found) or not found[0]:
        raise UnreadableCorpus(
            f"{place}: expected `id<tab>text`, `id<tab>title<tab>text`, or a JSON object with `_id`, `title` "
            "and `text`"
        )
    return CorpusDocument(*found)
