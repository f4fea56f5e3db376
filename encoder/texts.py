"""What may be given to an encoder as a text, or as parts: coerced where that is plain, else rejected."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

from trifuse.encoder.errors import InvalidText
from trifuse.encoder.parts import is_parts, split_parts
from trifuse.encoder.templates import clean_text

PLAIN_PART = "title"
"""The part that a text without parts is, where the encoder has it; else its first part."""


_Clean = TypeVar("_Clean")


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
        if not (isinstance(value, int) or math.isfinite(value)):
            raise Unusable(f"{value} is not a text")
        try:
            return str(value)
        except ValueError:  # Python writes no whole number of more than 4,300 digits
            raise Unusable("a number of thousands of digits is not a text") from None
    if value is None:
        raise Unusable("there is no text (None)")
    raise Unusable(f"a {type(value).__name__} is not a text, expected a string")


def as_texts(values: Sequence[Any]) -> tuple[list[str], dict[int, str]]:
    """Clean texts, "" where rejected, and position to reason for those.

    Raises:
        InvalidText: one text was given where a sequence of texts is expected.
    """
    return _each(values, as_text, "")


def as_all_parts(values: Sequence[Any], names: Sequence[str]) -> tuple[list[dict[str, str]], dict[int, str]]:
    """Clean parts of each item, {} where rejected, and position to reason for those.

    Raises:
        InvalidText: one text or mapping was given where a sequence of them is expected.
    """
    return _each(values, lambda value: as_parts(value, names), {})


def _each(
    values: Sequence[Any], clean: Callable[[Any], _Clean], nothing: _Clean
) -> tuple[list[_Clean], dict[int, str]]:
    if isinstance(values, str | bytes | Mapping):
        raise InvalidText(f"expected a sequence of texts, got one {type(values).__name__}: put it in a list")
    found: list[_Clean] = []
    rejected: dict[int, str] = {}
    for position, value in enumerate(values):
        try:
            found.append(clean(value))
        except Unusable as reason:
            found.append(nothing)
            rejected[position] = str(reason)
    return found, rejected


def require_usable(rejected: Mapping[int, str], count: int) -> None:
    """Refuse `count` texts of which some were rejected.

    Raises:
        InvalidText: naming the first of them and why.
    """
    if rejected:
        reasons = "; ".join(f"{position}: {reason}" for position, reason in list(rejected.items())[:5])
        raise InvalidText(f"{len(rejected)} of {count} texts can't be encoded ({reasons})")


def as_parts(item: Any, names: Sequence[str]) -> dict[str, str]:
    """The clean parts of an item, in the order of `names`; those that have no text are left out.

    Args:
        item: a mapping from part to text, number, list of these, or None; a text of parts; or a plain text,
            which is the part `title`.
        names: the parts that there are.

    Raises:
        Unusable: no part is left, one is unknown, or a value is none of these.
    """
    if isinstance(item, str) and is_parts(item):
        try:
            item = split_parts(item)
        except ValueError as error:
            raise Unusable(str(error)) from error
    if not isinstance(item, Mapping):
        return {PLAIN_PART if PLAIN_PART in names else names[0]: as_text(item)}
    unknown = [str(name) for name in item if name not in names]
    if unknown:
        raise Unusable(f"it has no part {', '.join(map(repr, unknown))}: its parts are {', '.join(names)}")
    found = {name: text for name in names if (text := _text(name, item.get(name)))}
    if not found:
        raise Unusable(f"none of its parts has a text ({', '.join(names)})")
    return found


def _text(name: str, value: Any) -> str:
    """The clean text of a part's value; "" where it has none."""
    values = value if isinstance(value, list | tuple) else [value]
    return "; ".join(dict.fromkeys(filter(None, (_single(name, each) for each in values))))


def _single(name: str, value: Any) -> str:
    if value is None:
        return ""
    try:
        return as_text(value)
    except Unusable as reason:
        if isinstance(value, str):
            return ""
        raise Unusable(f"part {name!r}: {reason}") from reason
