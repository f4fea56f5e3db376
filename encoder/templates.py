"""The one function that turns a document into the text that is embedded."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trifuse.encoder.parts import join_parts

Role = Literal["document", "query"]

# C0 and C1 controls, and surrogates that no pair claims: nothing that a text can mean.
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class TextTemplate:
    """Which fields of a document are embedded, in which order, cut how.

    Args:
        fields: dotted paths into `_source`; a path through a list collects from every item.
        separator: what stands between two fields.
        max_chars: the text is cut to so many characters; None leaves the cut to the encoder's tokens.
        role: the prefix that the encoder applies: a past query is embedded as a query.
        parts: for an encoder of parts, the part that each of `fields` belongs to; several may feed one. ():
            a plain text.
        local: the vector of its only part, and not of the whole document.

    Raises:
        ValueError: no field, not one part a field, or what parts can't be combined with.
    """

    fields: tuple[str, ...]
    separator: str = "\n"
    max_chars: int | None = None
    role: Role = "document"
    parts: tuple[str, ...] = ()
    local: bool = False

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError("a text template needs at least one field, got none")
        if self.parts and len(self.parts) != len(self.fields):
            raise ValueError(
                f"a template of {len(self.fields)} fields has {len(self.parts)} parts: name one for each"
            )
        if self.parts and self.max_chars is not None:
            raise ValueError("max_chars doesn't go with parts: the encoder cuts each part by its tokens")
        if self.local and len(set(self.parts)) != 1:
            raise ValueError(f"a local vector is of one part, got {list(self.parts)}")

    def as_dict(self) -> dict[str, Any]:
        """The template as JSON, for a mapping's `_meta`."""
        return {
            "fields": list(self.fields),
            "separator": self.separator,
            "max_chars": self.max_chars,
            "role": self.role,
            **({"parts": list(self.parts)} if self.parts else {}),
            **({"local": True} if self.local else {}),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> TextTemplate:
        """The template that `as_dict` wrote."""
        return cls(
            fields=tuple(value["fields"]),
            separator=value["separator"],
            max_chars=value["max_chars"],
            role=value["role"],
            parts=tuple(value.get("parts", ())),
            local=value.get("local", False),
        )


def clean_text(text: str) -> str:
    """One normal form: entities decoded, NFC, controls and runs of white space as one space.

    >>> clean_text("age &lt;18\\r\\n  years\\x00")
    'age <18 years'
    """
    text = unicodedata.normalize("NFC", html.unescape(text))
    return " ".join(_UNREADABLE.sub(" ", text).split())


def values_at(node: Any, path: Sequence[str]) -> Iterator[Any]:
    """Every value at a path that is no object, through lists and objects, in the order of the document.

    >>> list(values_at({"arms": [{"note": "a"}, {"note": ["b", 3]}], "arms.note": "d"}, ["arms", "note"]))
    ['a', 'b', 3, 'd']
    """
    if isinstance(node, list | tuple):
        for item in node:
            yield from values_at(item, path)
    elif isinstance(node, Mapping):
        # A key may itself be dotted (`{"a.b": 1}`): OpenSearch accepts both spellings of a path.
        for cut in range(1, len(path) + 1):
            child = node.get(".".join(path[:cut]))
            if child is not None:
                yield from values_at(child, path[cut:])
    elif not path:
        yield node


def _texts(source: Mapping[str, Any], path: Sequence[str]) -> Iterator[str]:
    for value in values_at(source, path):
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)


def _cleaned(source: Mapping[str, Any], field: str) -> Iterator[str]:
    return filter(None, (clean_text(text) for text in _texts(source, field.split("."))))


def _parts(source: Mapping[str, Any], template: TextTemplate) -> dict[str, str]:
    """The texts of the template's parts, in its order; "" where there is none."""
    found: dict[str, dict[str, None]] = {}
    for field, part in zip(template.fields, template.parts, strict=True):
        text = "; ".join(dict.fromkeys(_cleaned(source, field)))
        found.setdefault(part, {}).update({text: None} if text else {})
    return {part: template.separator.join(texts) for part, texts in found.items()}


def build_text(source: Mapping[str, Any], template: TextTemplate) -> str:
    """The text of a document: cleaned values of the template's fields; "" where it has none.

    By a template of parts a text of parts (`trifuse.encoder.parts`), in which nothing stands twice in a part.

    >>> build_text({"title": "A", "arm": [{"name": "b"}, {"name": "c"}]}, TextTemplate(("title", "arm.name")))
    'A\\nb; c'
    """
    if template.parts:
        return join_parts(_parts(source, template), local=template.local)
    found = ("; ".join(_cleaned(source, field)) for field in template.fields)
    text = template.separator.join(filter(None, found))
    return text if template.max_chars is None else text[: template.max_chars].rstrip()


def text_hash(text: str) -> str:
    """The hash by which a stale vector is recognised: 32 hex digits of SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
