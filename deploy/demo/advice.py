"""What to try after the demonstration."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

_OTHERS = ("kidney failure", "high blood sugar")
"""Queries for which the sample, too, has trials that other words describe."""


def program() -> str:
    """How to call trifuse here: by its name, or as it was called where no folder of PATH has it."""
    called = sys.argv[0]
    return "trifuse" if shutil.which("trifuse") or Path(called).name != "trifuse" else shlex.quote(called)


def next_commands(indexes: Sequence[str], query: str, *, sample: bool, program: str = "trifuse") -> list[str]:
    """Command lines that work on what the demonstration left.

    Args:
        indexes: of the trials, then of their sentences where there is one.
        sample: whether the index holds the bundled sample.
        program: how trifuse is called.

    >>> next_commands(["mine"], "acute stroke", sample=False)[0]
    "trifuse search mine 'acute stroke' --explain"
    """
    trials, *sentences = indexes
    searches = [(trials, query, " --explain"), *((index, query, "") for index in sentences)]
    if sample:
        searches += [(trials, other, "") for other in _OTHERS if other != query]
    lines = [f"{program} search {index} {shlex.quote(text)}{option}" for index, text, option in searches]
    return [*lines, f"{program} status", f"{program} down"]
