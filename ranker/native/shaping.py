"""What an index's own search pipeline does to a response, kept for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.errors import IndexMissing, ProfileNotNative, SearchRejected
from trifuse.ranker.kept import TTL_S, Kept
from trifuse.ranker.native.pipeline import Processor
from trifuse.ranker.server import asking


class Shaping:
    """Reads default search pipelines: the server runs one pipeline a search, so ours has to hold theirs.

    Args:
        ttl_s: how long an answer is used.
        clock: seconds, for tests.
    """

    def __init__(
        self, client: OpenSearch, *, ttl_s: float = TTL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._kept = Kept[list[Processor]](ttl_s=ttl_s, clock=clock)

    def processors(self, pipeline: str | None) -> list[Processor]:
        """The processors of the response in a pipeline; what it fuses by is replaced by ours.

        Raises:
            ProfileNotNative: it changes requests, and the server doesn't fuse a query that was changed.
            SearchRejected: it isn't there.
            SearchUnavailable: it couldn't be read.
        """
        return [] if pipeline is None else self._kept.get(pipeline, lambda: self._read(pipeline))

    def _read(self, pipeline: str) -> list[Processor]:
        try:
            with asking(f"the search pipeline {pipeline!r}"):
                answer: dict[str, Any] = self._client.search_pipeline.get(id=pipeline)
        except IndexMissing as error:
            reason = f"Pipeline {pipeline} is not defined"  # as the server says where it would run it
            raise SearchRejected(
                f"the index's default search pipeline {pipeline!r} isn't there: make it, or clear "
                "index.search.default_pipeline",
                status=400,
                error={"type": "illegal_argument_exception", "reason": reason},
            ) from error
        found = answer.get(pipeline, {})
        if found.get("request_processors"):
            kinds = ", ".join(kind for each in found["request_processors"] for kind in each)
            raise ProfileNotNative(
                f"the index's default search pipeline {pipeline!r} changes requests ({kinds}), and a server "
                "doesn't fuse a query that was changed: take the execution 'client', or clear that default"
            )
        return list(found.get("response_processors") or [])
