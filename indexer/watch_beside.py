"""What is kept in step beside a watch: sentences and copies, whose filling must not hold up the healing."""

from __future__ import annotations

import threading
from types import TracebackType

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from opensearchpy.exceptions import OpenSearchException, TransportError

from trifuse.encoder.errors import TrifuseError
from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.upkeep import keep_belongings

_END_S = 10.0


class Beside:
    """A thread that brings an index's belongings in step, again and again, while the block lasts.

    It may be ended anywhere: what it does goes on from where it was.

    Args:
        interval_s: seconds between two passes.
    """

    def __init__(self, client: OpenSearch, index: str, interval_s: float) -> None:
        self._client = client
        self._index = index
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"trifuse-watch-{index}", daemon=True)
        self.trouble: tuple[str, ...] = ()

    def __enter__(self) -> Beside:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=_END_S)

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            try:
                self.trouble = tuple(keep_belongings(self._client, self._index))
            except (TrifuseError, OpenSearchException) as error:
                self.trouble = (said(error),)


def said(error: Exception) -> str:
    """What to say of an error that is waited out: the same for the same, so that it is said once."""
    if isinstance(error, (ServerUnavailable, OpenSearchConnectionError)):
        return "OpenSearch doesn't answer; waiting for it"
    if isinstance(error, TransportError):
        return f"OpenSearch refuses it ({error.status_code}, {error.error}); waiting for that to change"
    return f"{error}; waiting for that to change"
