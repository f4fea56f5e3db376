"""The space that a vector is in: vectors of two spaces are never compared.

`_meta` of an index's mapping keeps the space of each vector field:

    {"trifuse": {"format": 1, "fields": {"trifuse_vector": {"id": ..., "encoder": ..., "template": ...}}}}

An index that is being embedded anew has two fields, each in a space of its own: `serving` beside `fields`
names the one that queries go by. A field never changes its space, so that a vector can't meet one of another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from typing import Any, Literal

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.ours import ours_in
from trifuse.encoder.templates import Role, TextTemplate

FORMAT = 1

Similarity = Literal["cosine", "dot"]
"""What vectors are compared by."""


@dataclass(frozen=True)
class EncoderSpace:
    """Everything about a document encoder that moves its vectors.

    Args:
        encoder: the model's name, `bge-small-en-v1.5-int8`.
        revision: a hash of the model's files and of its description.
        precision: `fp32`, `fp16` or `int8`; int8 is a space of its own.
        pooling: `cls` or `mean`.
        dimension: numbers in a vector.
        normalized: whether vectors have unit norm.
        similarity: what the model was trained for.
        query_tower: a hash of the graph that encodes queries, where it is another than the documents'; else
            "". It moves no document's vector, so that it is no part of `id`; it is of the spaces of vectors
            that were encoded as queries.
        parts: the named parts that it takes; (): plain texts.
    """

    encoder: str
    revision: str
    precision: str
    pooling: Literal["cls", "mean"]
    dimension: int
    normalized: bool
    similarity: Similarity
    query_tower: str = ""
    parts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name of the space that query encoders declare: the model's name and a hash of the rest."""
        return f"{self.encoder}-{_digest(self.as_dict())}"

    def as_dict(self, role: Role = "document") -> dict[str, Any]:
        """What moves a text's vector in that role."""
        content = asdict(self)
        tower, parts = content.pop("query_tower"), content.pop("parts")
        if parts:
            content["parts"] = list(parts)
        return {**content, "query_tower": tower} if tower and role == "query" else content

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> EncoderSpace:
        """The space that `as_dict` wrote.

        Raises:
            TypeError: a key is missing, or isn't one of a space.
        """
        return cls(**{**value, "parts": tuple(value.get("parts", ()))})


@dataclass(frozen=True)
class Space:
    """The space of one vector field: an encoder's, and the template that its texts are made by.

    Raises:
        SpaceMismatch: the template has parts that the encoder doesn't take.
    """

    encoder: EncoderSpace
    template: TextTemplate

    def __post_init__(self) -> None:
        unknown = sorted(set(self.template.parts) - set(self.encoder.parts))
        if unknown:
            taken = f"takes {', '.join(self.encoder.parts)}" if self.encoder.parts else "takes plain texts"
            raise SpaceMismatch(
                f"the texts have the parts {', '.join(unknown)}, but the encoder {self.encoder.encoder!r} "
                f"{taken}: use an encoder of these parts (--encoder), or other parts (--text)"
            )

    @property
    def id(self) -> str:
        """The id that every embedded document carries."""
        return f"{self.encoder.encoder}-{_digest(self._content())}"

    def of_part(self, part: str) -> Space:
        """The space of one part's own vectors, of the same encoder and texts.

        Raises:
            SpaceMismatch: the texts have no such part.
        """
        of = zip(self.template.fields, self.template.parts, strict=False)
        fields = tuple(field for field, name in of if name == part)
        if not fields:
            known = ", ".join(dict.fromkeys(self.template.parts)) or "no parts"
            raise SpaceMismatch(f"the texts of the space {self.id!r} have {known}, and no part {part!r}")
        return Space(
            self.encoder, replace(self.template, fields=fields, parts=(part,) * len(fields), local=True)
        )

    def _content(self) -> dict[str, Any]:
        return {"encoder": self.encoder.as_dict(self.template.role), "template": self.template.as_dict()}

    def as_dict(self) -> dict[str, Any]:
        """The space as JSON, for a mapping's `_meta`; it names the query tower that belongs to it."""
        tower = self.encoder.query_tower
        return {"id": self.id, **self._content(), **({"query_tower": tower} if tower else {})}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Space:
        """The space that `as_dict` wrote.

        Raises:
            SpaceMismatch: the content doesn't have the id that stands beside it.
        """
        try:
            encoder = EncoderSpace.from_dict(
                {**value["encoder"], "query_tower": value.get("query_tower", "")}
            )
            space = cls(encoder, TextTemplate.from_dict(value["template"]))
            named = value["id"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpaceMismatch(
                f"the mapping's _meta holds no space that this version of trifuse can read ({error!r}): it "
                "was edited by hand, or written by another version; use that one, or another index"
            ) from error
        if space.id != named:
            raise SpaceMismatch(
                f"the mapping's _meta names space {named!r}, but its content is of {space.id!r}: "
                "it was edited by hand, or written by another version of trifuse"
            )
        return space


def _no_field(field: str, known: Iterable[str]) -> SpaceMismatch:
    return SpaceMismatch(
        f"the mapping's _meta names no vector field {field!r}, but {sorted(known)}: name one"
    )


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def spaces_in_meta(meta: Mapping[str, Any] | None) -> dict[str, Space]:
    """The spaces of an index's vector fields, by field, as its mapping's `_meta` keeps them.

    Raises:
        SpaceMismatch: what stands there can't be read.
    """
    return {field: Space.from_dict(value) for field, value in _fields(meta).items()}


def has_spaces(meta: Mapping[str, Any] | None) -> bool:
    """Whether an index's `_meta` names vector fields of trifuse, readable or not."""
    return bool(_fields(meta))


def _fields(meta: Mapping[str, Any] | None) -> Mapping[str, Any]:
    fields = ours_in(meta).get("fields")
    return fields if isinstance(fields, Mapping) else {}


def meta_with_space(meta: Mapping[str, Any] | None, field: str, space: Space) -> dict[str, Any]:
    """`_meta` with the field's space in it and everything else kept (put-mapping replaces `_meta` whole)."""
    merged = dict(meta or {})
    ours = dict(merged.get("trifuse") or {})
    ours["format"] = FORMAT
    ours["fields"] = {**(ours.get("fields") or {}), field: space.as_dict()}
    merged["trifuse"] = ours
    return merged


def meta_without_space(meta: Mapping[str, Any] | None, field: str) -> dict[str, Any]:
    """`_meta` without that field's space, and everything else kept; without `trifuse` where that was all."""
    merged = dict(meta or {})
    ours = dict(merged.get("trifuse") or {})
    fields = {name: value for name, value in _fields(meta).items() if name != field}
    if ours.get("serving") == field:
        del ours["serving"]
    if fields:
        merged["trifuse"] = {**ours, "fields": fields}
    else:
        merged.pop("trifuse", None)
    return merged


def serving_field(meta: Mapping[str, Any] | None) -> str | None:
    """The vector field that queries go by: the one that `_meta` names, else the first; None without any.

    >>> serving_field({"trifuse": {"fields": {"a": {}, "b": {}}, "serving": "b"}})
    'b'
    """
    fields = _fields(meta)
    named = (meta or {}).get("trifuse", {}).get("serving") if fields else None
    return named if named in fields else next(iter(fields), None)


def meta_serving(meta: Mapping[str, Any] | None, field: str) -> dict[str, Any]:
    """`_meta` with `field` as the one that queries go by.

    Raises:
        SpaceMismatch: the index has no such vector field.
    """
    if field not in _fields(meta):
        raise _no_field(field, _fields(meta))
    merged = dict(meta or {})
    merged["trifuse"] = {**merged["trifuse"], "serving": field}
    return merged


def part_fields(meta: Mapping[str, Any] | None, field: str) -> dict[str, str]:
    """The fields of single parts' own vectors, by part: of the encoder and the texts of `field`.

    Raises:
        SpaceMismatch: what stands there can't be read, or there is no such field.
    """
    spaces = spaces_in_meta(meta)
    if field not in spaces:
        raise _no_field(field, spaces)
    whole = spaces[field]
    parts = () if whole.template.local else whole.template.parts
    own = {whole.of_part(part).id: part for part in parts}
    return {own[space.id]: name for name, space in spaces.items() if space.id in own}


def next_field(fields: Iterable[str], first: str) -> str:
    """A name for one more vector field, that none of `fields` has: `first`, `first_2`, `first_3`, ...

    >>> next_field(["trifuse_vector"], "trifuse_vector")
    'trifuse_vector_2'
    """
    taken = set(fields)
    names = chain([first], (f"{first}_{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def require_same_space(
    found: EncoderSpace, expected: EncoderSpace, *, what: str, role: Role = "document"
) -> None:
    """Refuse to compare vectors of two spaces.

    Args:
        role: how the texts at hand are encoded; two query towers of one space differ only for queries.

    Raises:
        SpaceMismatch: naming both spaces and the remedy.
    """
    if found != expected and found.as_dict(role) != expected.as_dict(role):
        tower = " with another query tower" if found.id == expected.id else ""
        raise SpaceMismatch(
            f"{what} is in the space {expected.id!r}, but the encoder at hand is of {found.id!r}{tower}: "
            f"use the encoder {expected.encoder!r} (--encoder), or embed the index again"
        )
