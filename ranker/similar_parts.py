"""Which vectors documents are alike by, and what parts of one become before they are encoded. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.ranker.encoders import encoded_alike
from trifuse.ranker.errors import BodyError
from trifuse.ranker.filters import all_of
from trifuse.ranker.legs import dense_clause, exact_clause
from trifuse.ranker.target import Target
from trifuse.ranker.types import Clause

Parts = Mapping[str, str | Sequence[str]]
"""Part to its text, or to several: the conditions of a trial."""

NEIGHBOURS = 100
"""So many are looked for at least: a search for few of them finds them less surely."""


def field_by(target: Target, part: str | None) -> str:
    """The field of the vectors that documents are compared by.

    Args:
        part: one whose own vectors to take; None: the vectors of the whole documents.

    Raises:
        BodyError: there are no such vectors; it names those that there are.
    """
    field = target.field_of(None)
    whole = target.space_of(field)
    if whole is None:
        raise BodyError(f"{target.expression!r} has no vectors: `trifuse attach` adds some")
    if part is None:
        return field
    by_part: dict[str, Counter[str]] = {}
    for spaces in target.spaces.values():
        for name, space in spaces.items():
            if space.template.local and encoded_alike(space.encoder, whole.encoder):
                by_part.setdefault(space.template.parts[0], Counter())[name] += 1
    if part not in by_part:
        there = f"has those of {', '.join(sorted(by_part))}" if by_part else "has none of single parts"
        raise BodyError(
            f"{target.expression!r} has no vectors of the part {part!r} by itself, and {there}: load or "
            "attach with --part-vectors, by an encoder of parts"
        )
    return max(sorted(by_part[part]), key=by_part[part].__getitem__)


def text_of(parts: Parts, space: Space) -> str:
    """The text that parts of a document are encoded as, in a field's space.

    For an encoder of plain texts they are joined as the field's template joins its fields: parts that are
    named as those come first, in its order, then the others as they are given.

    Raises:
        BodyError: there are none, or the encoder doesn't take one of them.
    """
    if not parts:
        raise BodyError("there is no part to compare by: give one with its text")
    template = space.template
    taken = tuple(template.parts[:1]) if template.local else space.encoder.parts
    unknown = ", ".join(repr(name) for name in parts if taken and name not in taken)
    if unknown and template.local:
        raise BodyError(f"the vectors of the part {taken[0]!r} are compared by it alone: leave out {unknown}")
    if unknown:
        raise BodyError(
            f"the encoder {space.encoder.encoder!r} has no part {unknown}: its parts are {', '.join(taken)}"
        )
    if taken:
        names = tuple(name for name in taken if name in parts)
        template = TextTemplate(names, parts=names, local=template.local)
    else:
        names = tuple(dict.fromkeys(name for name in (*template.fields, *parts) if name in parts))
        template = replace(template, fields=names)
    text = build_text(parts, template)
    if not text:
        raise BodyError(f"no text that can be read in the part {', '.join(map(repr, parts))}: give it one")
    return text


def nearest_body(
    target: Target, field: str, vector: Sequence[float], filters: Sequence[Clause | None], *, size: int
) -> dict[str, Any]:
    """The search for the `size` nearest documents that match all of the filters."""
    clause = all_of([each for each in filters if each is not None])
    space = target.space_of(field)
    if target.is_exact(field):
        query = exact_clause(field, vector, space.encoder.similarity if space else None, clause)
    else:
        some_lack = bool(target.lacks(field))
        query = dense_clause(field, vector, max(size, NEIGHBOURS), clause, ignore_unmapped=some_lack)
    return {
        "size": size,
        "query": query,
        "_source": {"excludes": target.hidden_fields()},
        "track_total_hits": False,
        "search_pipeline": "_none",
    }


def document_body(id: str, field: str) -> dict[str, Any]:
    """The search for a document's vector; two hits show that several documents have the id."""
    return {
        "size": 2,
        "query": {"ids": {"values": [id]}},
        "_source": [field],
        "track_total_hits": False,
        "search_pipeline": "_none",
    }


def other_than(id: str) -> Clause:
    """All documents but that one."""
    return {"bool": {"must_not": [{"ids": {"values": [id]}}]}}
