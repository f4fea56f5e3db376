"""Decode JSON that OpenSearch keeps and msgspec refuses: lone surrogates, and a thousand levels."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TypeVar

import msgspec

_ESCAPE = re.compile(rb"\\(?:u(d[89a-f][0-9a-f]{2})|.)", re.IGNORECASE | re.DOTALL)

_LEVELS = 4_000
"""Python's own limit, which msgspec keeps to, is as low as OpenSearch's: 1,000, and the callers count."""

T = TypeVar("T")


Own = Callable[[msgspec.Raw], msgspec.Raw]


def decode(decoder: msgspec.json.Decoder[T], data: bytes, restore: Callable[[T, Own], T]) -> T:
    """What the decoder makes of the data.

    Args:
        restore: puts every `Raw` of the result through a function, which gives surrogates their escapes back.

    Raises:
        DecodeError: it is no JSON of that shape.
    """
    try:
        return decoder.decode(data)
    except RecursionError:
        if sys.getrecursionlimit() >= _LEVELS:
            raise
        sys.setrecursionlimit(_LEVELS)
        return decode(decoder, data, restore)
    except msgspec.DecodeError:
        token = b"<surrogate>"
        while token in data:
            token += b">"
        hidden = _ESCAPE.sub(lambda found: token + found[1] if found[1] else found[0], data)
        return restore(decoder.decode(hidden), lambda raw: msgspec.Raw(bytes(raw).replace(token, b"\\u")))


def restore_parts(parts: dict[str, msgspec.Raw], own: Own) -> dict[str, msgspec.Raw]:
    """The parts of a document, restored."""
    return {name: own(value) for name, value in parts.items()}
