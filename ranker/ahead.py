"""Work whose result is needed later, done meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def ahead(work: Callable[[], Result]) -> Callable[[], Result]:
    """Start work in a thread of its own, or do it at once where there is none to be had.

    Returns:
        what waits for the result, and raises what the work raised.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is wanted
            future.set_exception(error)

    try:
        threading.Thread(target=run, name="trifuse-ahead", daemon=True).start()
    except RuntimeError:
        run()
    return future.result
