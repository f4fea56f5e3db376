"""What may be given to an encoder as a text: coerced where the meaning is plain, else rejected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from trifuse.encoder.errors import InvalidText
from trifuse.encoder.templates import clean_text


class Unusable(ValueError):
    """Why a value isn't a text."""


def as_text(value: Any) -> str:
    """The clean text of a value: of a string, or of a number (as `build_text` takes them).

    Entities are decoded; controls, lone surrogates and runs of white space become one space.

    Raises:
        Unusable: nothing is left, or it is neither.
    """
    if isinstance(value, str):
        text = clean_text(value)
        if not text:
            raise Unusable("the text is empty" if not value.strip() else "the text has no readable character")
        return text
    if isinstance(value, Real) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise Unusable(f"{value} is not a text")
        return str(value)
    if value is None:
        raise Unusable("there is no text (None)")
    raise Unusable(f"a {type(value).__name__} is not a text, expected a string")


def as_texts(values: Sequence[Any]) -> tuple[list[str], dict[int, str]]:
    """Clean texts, "" where rejected, and position to reason for those.

    Raises:
        InvalidText: one string was given where a sequence of strings is expected.
    """
    if isinstance(values, str | bytes):
        raise InvalidText(f"expected a sequence of texts, got one {type(values).__name__}: put it in a list")
    texts: list[str] = []
    rejected: dict[int, str] = {}
    for position, value in enumerate(values):
        try:
            texts.append(as_text(value))
        except Unusable as reason:
            texts.append("")
            rejected[position] = str(reason)
    return texts, rejected
