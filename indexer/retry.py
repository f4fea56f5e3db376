"""When and how requests to OpenSearch are sent again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from opensearchpy.exceptions import SSLError, TransportError

from trifuse.indexer.errors import ServerUnavailable

RETRYABLE = frozenset({429, 502, 503, 504})
"""Statuses of want of room or time: the same request may go well later."""

T = TypeVar("T")


class Retry(msgspec.Struct, frozen=True):
    """How patient a writer is.

    Args:
        retries: how often the same is tried again.
        first_s, longest_s: the first pause, and the longest; pauses double, and each is cut by up to half at
            random, so that many writers don't come back at once.
        sleep: waits so many seconds.
    """

    retries: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def pause(self, attempt: int) -> None:
        """Wait after the attempt, counted from 1."""
        full = min(self.longest_s, self.first_s * 2.0 ** (attempt - 1))
        self.sleep(full * random.uniform(0.5, 1.0))  # noqa: S311 - spreads writers, hides nothing


def worth_retrying(error: TransportError) -> bool:
    """Whether the server didn't answer, or had no room or time."""
    if isinstance(error, OpenSearchConnectionError):
        return not isinstance(error, SSLError)
    return error.status_code in RETRYABLE


def reason_of(error: TransportError) -> str:
    """Why OpenSearch refused, in its own words; what came instead where that is no JSON of its."""
    found: Any = error.info.get("error") if isinstance(error.info, dict) else None
    return str(found.get("reason") if isinstance(found, dict) else found or error.error)


def retrying(call: Callable[[], T], *, what: str, retry: Retry) -> T:
    """The result of `call`, a request that may be sent twice.

    Raises:
        ServerUnavailable: it failed in all retries; naming `what` was asked.
        TransportError: it failed for another reason.
    """
    attempt = 1
    while True:
        try:
            return call()
        except TransportError as error:
            if not worth_retrying(error):
                raise
            if attempt > retry.retries:
                raise ServerUnavailable(
                    f"{what} failed {attempt} times, at last with {error.status_code}: {error.error}; "
                    "do the same again when OpenSearch is well"
                ) from error
        retry.pause(attempt)
        attempt += 1
