"""Reads what an index expression stands for, and keeps it for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.kept import TTL_S, Kept
from trifuse.ranker.server import asking
from trifuse.ranker.target import Target, read_target


class Targets:
    """Targets by expression.

    Args:
        ttl_s: how long an answer is used. The server itself applies alias filters, whatever is kept here, and
            a hit from an index that isn't known makes the ranker read again.
        clock: seconds, for tests.
    """

    def __init__(
        self, client: OpenSearch, *, ttl_s: float = TTL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._kept = Kept[Target](ttl_s=ttl_s, clock=clock)

    def read(self, expression: str, params: Mapping[str, Any], *, fresh: bool = False) -> Target:
        """The target of an expression.

        Raises:
            IndexMissing: no index, alias or pattern by that name.
            SearchUnavailable: OpenSearch didn't answer.
        """
        key = (expression, repr(sorted(params.items())))
        return self._kept.get(key, lambda: self._read(expression, params), fresh=fresh)

    def _read(self, expression: str, params: Mapping[str, Any]) -> Target:
        with asking(expression):
            answer = self._client.indices.get(index=expression, params=dict(params))
        return read_target(expression, answer)
