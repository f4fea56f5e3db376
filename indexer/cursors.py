"""How far an index has been checked for stale vectors: a `_seq_no` per shard, kept in the state index.

Every write of a document moves its `_seq_no` to the end of its shard's history. So what is at or below the
cursor hasn't been written since it was found to be in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.reading import PATIENT, search
from trifuse.indexer.retry import Retry, retrying
from trifuse.indexer.state import delete_state, get_state, put_state

KIND = "cursor"


class Shard(msgspec.Struct, frozen=True):
    """One primary shard as it stands.

    Args:
        number: its number.
        history: the id of its history: numbers of another history mean nothing.
        checkpoint: every write up to this number is done, on all copies, and on disk.
        latest: the number of the last write that was begun.
    """

    number: int
    history: str
    checkpoint: int
    latest: int = -1

    def after(self, reached: Mapping[str, tuple[str, int]]) -> int:
        """The last `_seq_no` that was read of it; -1 where none was, or only of another history.

        Args:
            reached: number of a shard to its history's id and the last `_seq_no` that was read.
        """
        history, seq_no = reached.get(str(self.number), ("", -1))
        return seq_no if history == self.history else -1

    def written(self, after: int, upto: int | None = None) -> dict[str, Any]:
        """The query for what was written to it after a number, up to its checkpoint or one before."""
        return {"range": {"_seq_no": {"gt": after, "lte": self.checkpoint if upto is None else upto}}}

    @property
    def preference(self) -> str:
        """What has a search ask this shard alone."""
        return f"_shards:{self.number}|_primary"


class Cursors(msgspec.Struct, frozen=True):
    """How far a vector field was checked, and what was found.

    Args:
        shards: number of a shard to its history's id and the last `_seq_no` that was checked.
        stale: documents that were stale.
        at: when that was, ISO 8601; None if never.
    """

    shards: Mapping[str, tuple[str, int]] = {}
    stale: int = 0
    at: str | None = None

    def after(self, shard: Shard) -> int:
        """The last `_seq_no` of this shard that needs no check; -1 where all do."""
        return shard.after(self.shards)


def read_shards(client: OpenSearch, index: str, *, retry: Retry = PATIENT) -> list[Shard]:
    """The primary shards of an index. Read them before the refresh that makes their writes searchable."""
    answer: dict[str, Any] = retrying(
        lambda: client.indices.stats(index=index, level="shards"),
        what=f"the shards of the index {index!r}",
        retry=retry,
    )
    shards: dict[str, Any] = answer["indices"].get(index, {}).get("shards", {})
    found = [
        Shard(
            int(number),
            copy["commit"]["user_data"].get("history_uuid", ""),
            int(copy["seq_no"]["global_checkpoint"]),
            int(copy["seq_no"]["max_seq_no"]),
        )
        for number, copies in shards.items()
        for copy in copies
        if copy["routing"]["primary"]
    ]
    return sorted(found, key=lambda shard: shard.number)


def settled_shards(client: OpenSearch, index: str) -> list[Shard]:
    """The primary shards, each with a checkpoint that covers what was written before.

    Where `index.translog.durability` is `async`, checkpoints are up to half a minute behind, until a flush.
    """
    shards = read_shards(client, index)
    if all(shard.latest <= shard.checkpoint for shard in shards):
        return shards
    setting = "index.translog.durability"
    found: dict[str, Any] = client.indices.get_settings(
        index=index, name=setting, params={"flat_settings": "true"}
    )
    if not any(entry["settings"][setting].lower() == "async" for entry in found.values()):
        return shards
    retrying(
        lambda: client.indices.flush(index=index, params={"wait_if_ongoing": "true"}),
        what=f"a flush of the index {index!r}",
        retry=PATIENT,
    )
    return read_shards(client, index)


def count_written(client: OpenSearch, index: str, shard: Shard, after: int) -> int:
    """Documents of a shard that were written after a number, up to its checkpoint."""
    body = {"query": shard.written(after), "size": 0, "track_total_hits": True}
    found = search(client, index, body, params={"preference": shard.preference})
    return int(found["hits"]["total"]["value"])


def read_cursors(client: OpenSearch, target: EmbeddedField) -> Cursors:
    """What was kept for the vector field; nothing checked if nothing was."""
    kept = get_state(client, KIND, _key(target))
    return Cursors() if kept is None else msgspec.convert(kept, Cursors)


def keep_cursors(
    client: OpenSearch, target: EmbeddedField, shards: Mapping[str, tuple[str, int]], *, stale: int
) -> None:
    """Keep how far the field was checked now."""
    cursors = Cursors(shards, stale, datetime.now(UTC).isoformat(timespec="seconds"))
    put_state(client, KIND, _key(target), msgspec.to_builtins(cursors), index=target.index)


def forget_cursors(client: OpenSearch, target: EmbeddedField) -> None:
    """Have the whole field checked again."""
    delete_state(client, KIND, _key(target))


def _key(target: EmbeddedField) -> str:
    """A cursor says nothing of vectors in another space, nor of a later index of the same name."""
    return f"{target.uuid}:{target.field}:{target.space.id}"
