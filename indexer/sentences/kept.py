"""How far the sentences of one origin are kept: in the state index, apart from those of another origin."""

from __future__ import annotations

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.cursors import Shard
from trifuse.indexer.hints import Hint
from trifuse.indexer.prepare import canonical, content_hash
from trifuse.indexer.sentences.origin import Origin
from trifuse.indexer.sentences.parents import Place
from trifuse.indexer.state import delete_state, get_state, put_state

KIND = "sentences"
_MOST_REFUSED = 1000


class Kept(msgspec.Struct):
    """How far it is.

    Args:
        shards: as in `Cursors`.
        documents: how many parents there were when ids were compared, or later.
        compared: when that was, seconds since 1970; 0 if never.
        comparing: the last parent that was compared, of a comparison that didn't come to its end.
        refused: parents that a sentence of was refused, by id and routing, each with the reason.
    """

    shards: dict[str, tuple[str, int]] = {}
    documents: int = 0
    compared: float = 0.0
    comparing: Place | None = None
    refused: list[tuple[str, str | None, str]] = []

    def reach(self, shard: Shard, seq_no: int) -> None:
        """Note that a shard was read up to a number."""
        self.shards[str(shard.number)] = (shard.history, seq_no)

    def refusals(self) -> dict[Hint, str]:
        """Parents that a sentence of was refused, each with the reason."""
        return {(parent, routing): reason for parent, routing, reason in self.refused}


def read_kept(client: OpenSearch, origin: Origin) -> Kept:
    """What was kept; nothing done if nothing was."""
    found = get_state(client, KIND, _key(origin))
    return Kept() if found is None else msgspec.convert(found, Kept)


def keep(client: OpenSearch, origin: Origin, kept: Kept, refused: dict[Hint, str]) -> None:
    """Keep how far it is, with the refusals as they are now."""
    kept.refused = [(*hint, reason) for hint, reason in refused.items()][:_MOST_REFUSED]
    put_state(client, KIND, _key(origin), msgspec.to_builtins(kept), index=origin.index)


def forget_kept(client: OpenSearch, origin: Origin) -> None:
    """Have everything read and compared again."""
    delete_state(client, KIND, _key(origin))


def _key(origin: Origin) -> str:
    """Of other texts or filters, and of a later index of the same name, it says nothing."""
    return f"{origin.uuid}:{content_hash(canonical(msgspec.to_builtins(origin)))}"
