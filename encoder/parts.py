"""Named parts of a document: their names and limits, and the one text that several of them travel as.

Queues, hashes and failures know texts. A text of parts is a mark that no cleaned text can hold, and JSON:

    "\\x1e" + '{"title": "Aspirin for headache", "condition": "Headache"}'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

PARTS_MARK = "\x1e"
"""Begins a text of parts that are encoded together."""

LOCAL_MARK = "\x1f"
"""Begins a text of one part whose own vector is asked for, and not the whole document's."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One part that an encoder of parts takes.

    Args:
        name: lower-case letters, digits, `_`.
        max_tokens: of the part, with its special tokens; the rest is cut.
        context: whether it is what the others are weighed by (one at most), and no key attribute.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    max_tokens: Annotated[int, Meta(ge=1)]
    context: bool = False


def join_parts(parts: Mapping[str, str], *, local: bool = False) -> str:
    """Parts as one text; "" where none has a text.

    Args:
        parts: name to text, of those that there are.
        local: the vector of the only part is asked for.

    Raises:
        ValueError: `local` with several parts.

    >>> join_parts({"title": "A", "condition": ""})
    '\\x1e{"title": "A"}'
    """
    filled = {name: text for name, text in parts.items() if text}
    if local and len(filled) > 1:
        raise ValueError(f"a local vector is of one part, got {', '.join(filled)}: join one of them")
    if not filled:
        return ""
    return (LOCAL_MARK if local else PARTS_MARK) + json.dumps(filled, ensure_ascii=False)


def is_parts(text: str) -> bool:
    """Whether a text is one of parts."""
    return text.startswith((PARTS_MARK, LOCAL_MARK))


def split_parts(text: str) -> dict[str, str]:
    """The parts that `join_parts` has joined.

    Raises:
        ValueError: the text isn't one of parts.

    >>> split_parts('\\x1e{"title": "A"}')
    {'title': 'A'}
    """
    if is_parts(text):
        try:
            found = msgspec.json.decode(text[1:].encode("utf-8", "surrogatepass"), type=dict[str, str])
        except msgspec.DecodeError as error:
            raise ValueError(f"the text {text[:80]!r} begins as one of parts, and isn't: {error}") from error
        return found
    raise ValueError(f"the text {text[:80]!r} isn't one of parts: join_parts makes them")
