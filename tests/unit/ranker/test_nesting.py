"""What is nested too deep is refused in one sentence, and no Python's stack is run out of."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.body import read_body
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import BodyError, ProfileError
from trifuse.ranker.nesting import MOST_LEVELS, check_nesting
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles.profile import Profile


def nested(levels: int) -> dict[str, Any]:
    """So many objects and lists in one another."""
    found: Any = {"match_all": {}}
    for _ in range((levels - 2) // 3):
        found = {"bool": {"must": [found]}}
    return found


def test_what_is_not_too_deep_is_read() -> None:
    deep = {"query": nested(MOST_LEVELS - 4)}
    check_nesting("the body", deep)
    assert read_body(fill_template(deep, "x"), depth=10).query == deep["query"]


@pytest.mark.parametrize("levels", [MOST_LEVELS + 4, 5_000, 100_000])
def test_what_is_too_deep_is_refused(levels: int) -> None:
    deep = {"query": nested(levels)}
    for read in (lambda: read_body(deep, depth=10), lambda: fill_template(deep, "x")):
        with pytest.raises(BodyError, match=rf"the body is nested more than {MOST_LEVELS} levels deep"):
            read()
    with pytest.raises(ProfileError, match="levels deep"):
        Profile(body=deep)


def test_a_filter_too() -> None:
    target: Any = None  # it isn't looked at
    with pytest.raises(BodyError, match="filter is nested more than"):
        plan_filters(read_body({}, depth=10), target, nested(5_000))
