"""Queries by their id, for logs that keep them apart from the clicks: on disk, so that any number fits."""

from __future__ import annotations

import sqlite3
from types import TracebackType


class QueryTexts:
    """A map from a query's id to its text; the first text of an id stays. It is gone when it is closed."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("")  # SQLite's name for a temporary file that only this connection sees
        self._db.execute("CREATE TABLE texts (id TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID")

    def add(self, query_id: str, text: str) -> None:
        """Keep a text, unless that id has one; text that is no Unicode (half a surrogate pair) isn't kept."""
        try:
            self._db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (query_id, text))
        except UnicodeEncodeError:
            return

    def get(self, query_id: str) -> str | None:
        """The text of an id."""
        found = self._db.execute("SELECT text FROM texts WHERE id = ?", (query_id,)).fetchone()
        return None if found is None else str(found[0])

    def __enter__(self) -> QueryTexts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
