"""The `minimum_should_match` of OpenSearch's manual, as a number."""

from __future__ import annotations

import re
from typing import Any

_CONDITION = re.compile(r"(\d+)\s*<\s*(-?\d+%?)")


def required_matches(value: Any, clauses: int) -> int:
    """How many of so many optional clauses a match needs; 0 where the value says nothing.

    >>> [required_matches(each, 4) for each in (None, 3, "-1", "75%", "-25%", "2<75% 9<-3", "5<90%")]
    [0, 3, 3, 3, 3, 3, 4]
    """
    if value is None:
        return 0
    text = str(value).strip()
    conditions = _CONDITION.findall(text)
    if conditions:
        applies = clauses
        for limit, then in conditions:
            if clauses <= int(limit):
                break
            applies = _least(then, clauses)
        return applies
    return _least(text, clauses)


def _least(text: str, clauses: int) -> int:
    try:
        # Towards zero: 75% of 3 is 2, and all but 25% of 3 is 3.
        given = int(text.removesuffix("%"))
    except ValueError:
        return 0
    share = int(clauses * given / 100) if text.endswith("%") else given
    return max(clauses + share if given < 0 else share, 0)
