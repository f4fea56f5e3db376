"""Documents as bytes: what a copy adds to them, and what is taken off on the way back. Pure functions.

The values of a document are never parsed: numbers of any size, and the order of keys, stay as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from trifuse.encoder.marks import MARKS
from trifuse.indexer.copying.body import SOURCE
from trifuse.indexer.copying.lenient import decode, restore_parts

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, Any])


class Version(msgspec.Struct, frozen=True, omit_defaults=True):
    """The version of a source's document.

    Args:
        history: the id of its shard's history; numbers of two histories can't be compared.
        seq_no, primary_term: of its last write.
        era: which history of the source it is, counted from 0.
    """

    history: str
    seq_no: int
    primary_term: int
    era: int = 0

    def covers(self, other: Version) -> bool:
        """Whether a document of this version needs no write of the other.

        >>> Version("h", 8, 1).covers(Version("h", 7, 1))
        True
        >>> Version("restored", 3, 1, era=1).covers(Version("h", 7, 1))  # read before it was restored
        True
        """
        return self.era > other.era or (self.history == other.history and self.seq_no >= other.seq_no)


class Kept(msgspec.Struct, frozen=True):
    """What of a document in the copy outlives a new version from the source.

    Args:
        version: the source's version that it is; None where no copying wrote it.
        mark: the mark of its vector.
        vector: the vector, as it stands.
    """

    version: Version | None = None
    mark: Mapping[str, Any] | None = None
    vector: msgspec.Raw | None = None


def one_line(raw: bytes) -> bytes:
    """JSON on one line: breaks stand between values only, for a string can't hold one unescaped."""
    return raw.strip().replace(b"\n", b" ").replace(b"\r", b" ")


def kept_of(raw: bytes, field: str) -> Kept:
    """What a document of the copy holds besides the source's own."""
    parts = parts_of(raw)
    marks = _marks(parts)
    named = marks.get(SOURCE)
    return Kept(
        msgspec.convert(named, Version) if named else None,
        (marks.get("fields") or {}).get(field),
        parts.get(field),
    )


def copied(raw: bytes, field: str, drop: Collection[str], version: Version, kept: Kept) -> msgspec.Raw:
    """A document of the source as the copy holds it.

    The vector that the copy had stays with its mark, which names the text that it is of: where the text is
    another now, the vector counts as stale until it is made anew.

    Args:
        field: the vector field that the copy was made for.
        drop: vector fields of ours that the copy lacks.
        version: the document's version in the source.
        kept: what the copy's document had.
    """
    parts = parts_of(raw)
    marks = _marks(parts)
    fields = {name: value for name, value in (marks.pop("fields", None) or {}).items() if name not in drop}
    fields.pop(field, None)
    added: list[tuple[str, bytes]] = []
    if kept.vector is not None and kept.mark is not None:
        added.append((field, bytes(kept.vector)))
    if kept.mark is not None:
        fields[field] = kept.mark
    marks = {**marks, **({"fields": fields} if fields else {}), SOURCE: msgspec.to_builtins(version)}
    added.append((MARKS, msgspec.json.encode(marks)))
    return msgspec.Raw(_joined(raw, parts, {MARKS, field, *drop}, added))


def carried(raw: bytes, own: Collection[str], before: Mapping[str, msgspec.Raw]) -> msgspec.Raw:
    """A document of the copy as its source holds it: without what belongs to the copy.

    Args:
        own: vector fields that the copy alone has.
        before: the parts of ours that the source's document has, by top-level name: they stay with it.
    """
    parts = parts_of(raw)
    marks = _marks(parts)
    marks.pop(SOURCE, None)
    fields = {name: value for name, value in (marks.pop("fields", None) or {}).items() if name not in own}
    earlier = _marks(before)
    fields = {**(earlier.get("fields") or {}), **fields}
    marks = {**marks, **({"fields": fields} if fields else {})}
    added = [(name, bytes(value)) for name, value in before.items() if name != MARKS and name not in parts]
    if marks:
        added.append((MARKS, msgspec.json.encode(marks)))
    return msgspec.Raw(_joined(raw, parts, {MARKS, *own}, added))


def parts_of(raw: bytes) -> dict[str, msgspec.Raw]:
    """A document's top-level parts, unparsed."""
    return decode(_parts, raw, restore_parts)


def content_of(raw: bytes, ours: Collection[str]) -> dict[str, bytes]:
    """The owner's own part of a document, as bytes by top-level name."""
    return {name: bytes(value) for name, value in parts_of(raw).items() if name not in ours}


def _marks(parts: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    found = parts.get(MARKS)
    return {} if found is None or not bytes(found).startswith(b"{") else _object.decode(found)


def _joined(
    raw: bytes, parts: Mapping[str, msgspec.Raw], without: Collection[str], added: list[tuple[str, bytes]]
) -> bytes:
    """The document without some of its parts, and with others at its end."""
    if parts.keys().isdisjoint(without):
        line = raw.strip()[1:-1].strip()
    else:
        own = ((name, bytes(value)) for name, value in parts.items() if name not in without)
        line = b",".join(msgspec.json.encode(name) + b":" + value for name, value in own)
    tail = b",".join(msgspec.json.encode(name) + b":" + value for name, value in added)
    return one_line(b"{" + b",".join(part for part in (line, tail) if part) + b"}")
