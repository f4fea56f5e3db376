"""The extra `trials`: scikit-learn, plotly and matplotlib, imported when a command needs them."""

from __future__ import annotations

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
