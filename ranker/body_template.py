"""A team's own query body with a place for the text: `{"query": {"match": {"title": "{{text}}"}}}`."""

from __future__ import annotations

from typing import Any

from trifuse.ranker.errors import BodyError
from trifuse.ranker.nesting import MOST_LEVELS, too_deep

PLACE = "{{text}}"


def fill_template(template: Any, text: str) -> Any:
    """A copy of a template in which each string that is `{{text}}` is the text.

    The text is put in as a value: whatever it holds, it can't change the body around it.

    Raises:
        BodyError: the place stands inside a longer string, or in a key; or it is nested too deep.

    >>> fill_template({"match": {"title": "{{text}}"}}, 'a "quoted" one')
    {'match': {'title': 'a "quoted" one'}}
    """
    return _filled(template, text, 0)


def _filled(template: Any, text: str, level: int) -> Any:
    if isinstance(template, str):
        return text if template == PLACE else _plain(template)
    if level > MOST_LEVELS and isinstance(template, dict | list):
        raise too_deep("the body")
    if isinstance(template, dict):
        return {_plain(key): _filled(value, text, level + 1) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(each, text, level + 1) for each in template]
    return template


def _plain(value: Any) -> Any:
    if isinstance(value, str) and PLACE in value:
        raise BodyError(f"{value!r}: {PLACE} must be the whole of a string, for it is replaced as a value")
    return value
