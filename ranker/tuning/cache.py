"""What legs brought, kept on disk: the same searches of an unchanged index aren't sent again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
from opensearchpy import OpenSearch

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.request import Request
from trifuse.ranker.server import asking
from trifuse.ranker.types import Key

Pairs = list[tuple[Key, float]]
"""Documents and scores, as the server ordered them."""

_FILE = "legs-1.sqlite"
"""The number is that of the format: another one is another file."""

_TABLE = """
    create table if not exists legs (
        expression text not null, state text not null, request text not null, hits blob not null,
        primary key (expression, state, request)
    ) without rowid
"""
_HITS = msgspec.msgpack.Decoder(dict[str, list[tuple[str, str, str, float]]])


class LegCache:
    """Hits by the very requests that brought them and the state of the indices that were asked.

    Click evidence isn't kept: it is read anew, so that it is never older than the log.

    Args:
        folder: made if it isn't there.

    Raises:
        UnreadableInput: what is there can't be used.
    """

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / _FILE
        with self._usable():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self._path, timeout=30.0, isolation_level=None)
            self._file.execute(_TABLE)

    def forget_older(self, expression: str, state: str) -> None:
        """Drop what was brought by these indices in any other state."""
        with self._usable():
            self._file.execute("delete from legs where expression = ? and state <> ?", (expression, state))

    def get(self, request: Request, state: str) -> dict[str, Pairs] | None:
        """Leg to its hits; None where the same wasn't asked before in that state."""
        key = (request.target.expression, state, _digest(request))
        query = "select hits from legs where expression = ? and state = ? and request = ?"
        with self._usable(), closing(self._file.execute(query, key)) as cursor:
            found = cursor.fetchone()
            hits = None if found is None else _HITS.decode(found[0])
        if hits is None:
            return None
        return {leg: [(Key(*key), score) for *key, score in pairs] for leg, pairs in hits.items()}

    def put(self, request: Request, state: str, legs: Mapping[str, Iterable[tuple[Key, float]]]) -> None:
        """Keep hits."""
        hits = {leg: [(*key, score) for key, score in pairs] for leg, pairs in legs.items()}
        row = (request.target.expression, state, _digest(request), msgspec.msgpack.encode(hits))
        with self._usable():
            self._file.execute("insert or replace into legs values (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, msgspec.DecodeError, TypeError) as error:
            raise UnreadableInput(
                f"{self._path} can't be used as a cache ({error}): delete it, or name another folder"
            ) from error


def index_state(client: OpenSearch, expression: str) -> str:
    """A text that is another one after any change that a search of these indices could see.

    Raises:
        IndexMissing, SearchRejected, SearchUnavailable: the indices' statistics weren't given.
    """
    with asking(expression):
        stats = client.indices.stats(index=expression, metric="docs", params={"level": "shards"})
        # Filters of aliases, analysers, similarities: none of them is a write.
        defined = client.indices.get(index=expression)
    indices = sorted(
        (
            name,
            about["uuid"],
            _hash(defined.get(name)),
            sorted(
                # Writes that no refresh has shown yet change the first; that they are shown, the others.
                (shard, copy["seq_no"]["max_seq_no"], copy["docs"]["count"], copy["docs"]["deleted"])
                for shard, copies in about["shards"].items()
                for copy in copies
                if copy["routing"]["primary"]
            ),
        )
        for name, about in stats["indices"].items()
    )
    return _hash(indices)


def _digest(request: Request) -> str:
    """Whatever decides what the legs bring stands in their requests: text, vector, filters, depth."""
    return _hash([request.header, request.bodies()])


def _hash(value: object) -> str:
    try:
        written = msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError):  # NumPy's numbers, half a surrogate pair
        written = repr(value).encode("utf-8", "backslashreplace")
    return hashlib.blake2b(written, digest_size=16).hexdigest()
