"""The extra `trials`: scikit-learn, plotly and matplotlib, imported when a command needs them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from trifuse.deploy.errors import TrialsMissing


@contextmanager
def trials_extra(what: str) -> Iterator[None]:
    """Say which extra is missing, where what is imported here isn't installed.

    Args:
        what: what needs it, as the message begins.

    Raises:
        TrialsMissing: a module isn't there.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise TrialsMissing(
            f"{what} needs {error.name}, which isn't installed: pip install 'trifuse[trials]'"
        ) from error


def require_trials(what: str) -> None:
    """Say that the extra is missing before any work that it is needed for.

    Raises:
        TrialsMissing: scikit-learn isn't there.
    """
    with trials_extra(what):
        importlib.import_module("sklearn")


@contextmanager
def one_thread() -> Iterator[None]:
    """Have scikit-learn compute in one thread: the same sums in the same order on every machine.

    Enter it when what is to compute is imported: libraries that are loaded later aren't held.

    Several threads wait for each other thousands of times in a small fit, which on a busy machine takes
    many times as long.
    """
    with importlib.import_module("threadpoolctl").threadpool_limits(1):
        yield
