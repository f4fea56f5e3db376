"""A team's own query body with a place for the text: `{"query": {"match": {"title": "{{text}}"}}}`."""

from __future__ import annotations

from typing import Any

from trifuse.ranker.errors import BodyError
from trifuse.ranker.nesting import check_nesting

PLACE = "{{text}}"


def fill_template(template: Any, text: str) -> Any:
    """A copy of a template in which each string that is `{{text}}` is the text.

    The text is put in as a value: whatever it holds, it can't change the body around it.

    Raises:
        BodyError: the place stands inside a longer string, or in a key; or it is nested too deep.

    >>> fill_template({"match": {"title": "{{text}}"}}, 'a "quoted" one')
    {'match': {'title': 'a "quoted" one'}}
    """
    if isinstance(template, dict | list):
        check_nesting("the body", template)
    return _filled(template, text)


def _filled(template: Any, text: str) -> Any:
    if isinstance(template, str):
        return text if template == PLACE else _plain(template)
    if isinstance(template, dict):
        return {_plain(key): _filled(value, text) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(each, text) for each in template]
    return template


def _plain(value: Any) -> Any:
    if isinstance(value, str) and PLACE in value:
        raise BodyError(f"{value!r}: {PLACE} must be the whole of a string, for it is replaced as a value")
    return value
