"""The ids of the documents that click records name by hash, remembered: a hash stands for one id for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trifuse.ranker.clicks.records import doc_hash

LIMIT = 100_000
"""About 20 MB."""


class DocumentNames:
    """A bounded memory of document hash → id, whose oldest entries go first.

    Safe to share by threads without a lock, which a fork might leave locked: what it does to its dict can't
    be interrupted.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._ids: dict[bytes, str] = {}

    def ids(
        self, docs: Sequence[bytes], fetch: Callable[[list[bytes]], Sequence[bytes | None]]
    ) -> list[str | None]:
        """The ids of these documents, in their order; None where nobody knows one.

        Args:
            docs: hashes, see `doc_hash`.
            fetch: asked once, where hashes are unknown: their ids as UTF-8. One that hasn't its hash is none.
        """
        found = {doc: self._ids.get(doc) for doc in docs}
        unknown = [doc for doc, known in found.items() if known is None]
        if unknown:
            fetched = {
                doc: name.decode("utf-8", "replace")
                for doc, name in zip(unknown, fetch(unknown), strict=True)
                if name is not None
            }
            right = {doc: name for doc, name in fetched.items() if doc_hash(name) == doc}
            self._remember(right)
            found.update(right)
        return [found[doc] for doc in docs]

    def _remember(self, ids: dict[bytes, str]) -> None:
        self._ids.update(ids)
        over = len(self._ids) - self._limit
        if over > 0:
            for doc in list(self._ids)[: over + self._limit // 10]:  # some more, so that it isn't always
                self._ids.pop(doc, None)
