"""What to try after the demonstration. Pure functions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

_OTHERS = ("kidney failure", "high blood sugar")
"""Queries for which the sample, too, has trials that other words describe."""


def next_commands(indexes: Sequence[str], query: str, *, sample: bool) -> list[str]:
    """Command lines that work on what the demonstration left.

    Args:
        indexes: of the trials, then of their sentences where there is one.
        sample: whether the index holds the bundled sample.

    >>> next_commands(["mine"], "acute stroke", sample=False)[0]
    "trifuse search mine 'acute stroke' --explain"
    """
    trials, *sentences = indexes
    searches = [(trials, query, " --explain"), *((index, query, "") for index in sentences)]
    if sample:
        searches += [(trials, other, "") for other in _OTHERS if other != query]
    lines = [f"trifuse search {index} {shlex.quote(text)}{option}" for index, text, option in searches]
    return [*lines, "trifuse status", "trifuse down"]
