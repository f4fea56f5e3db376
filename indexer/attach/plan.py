"""What attaching would do to an index, and whether it can: the request, what was found, the plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from trifuse.encoder.spaces import EncoderSpace, Space

Mode = Literal["in_place", "exact", "copy"]
Level = Literal["ok", "note", "refused"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at.

    Args:
        level: `ok`; `note`, to be known beforehand; or `refused`, which keeps from attaching.
        subject: what it is about, `k-NN`.
        text: what was found.
        remedy: what to do about it; "" where there is nothing to do.
    """

    level: Level
    subject: str
    text: str
    remedy: str = ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for.

    Args:
        name: an index, an alias or a data stream.
        text: the fields that are embedded, as paths.
        parts: for an encoder of parts, the part of each of these fields; else ().
        encoder: the space of the document encoder.
        mode: `in_place`; `exact`, without k-NN; or `copy`, into a new index.
        field: the vector field; None lets it be chosen.
        accept_version_bump: the owner knows that versions of documents go up.
        alias: for a copy, the alias that readers and writers go by; None lets it be chosen.
    """

    name: str
    text: tuple[str, ...]
    encoder: EncoderSpace
    mode: Mode
    field: str | None = None
    accept_version_bump: bool = False
    alias: str | None = None
    parts: tuple[str, ...] = ()


class PlannedIndex(msgspec.Struct, frozen=True):
    """One concrete index.

    Args:
        documents: how many it holds.
        attached: whether it has the vector field in this space already.
    """

    index: str
    uuid: str
    shards: int
    documents: int
    attached: bool


class Sample(msgspec.Struct, frozen=True):
    """Some documents as they are: how many were read, how many have a text, and the first text (cut)."""

    documents: int = 0
    with_text: int = 0
    example: str = ""


class Estimates(msgspec.Struct, frozen=True):
    """What it will take, all copies together.

    Args:
        documents: in all indexes.
        disk_bytes: of vectors, graph, `_source` and, for a copy, the documents.
        free_bytes: on all data nodes; None where that can't be read.
        bytes_per_hit: what the vectors add to a hit of a search that doesn't exclude them.
        sample: some documents.
    """

    documents: int
    disk_bytes: int
    free_bytes: int | None
    bytes_per_hit: int
    sample: Sample


class AttachPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What attaching would do.

    Args:
        name: as it was given.
        mode: how.
        field: the vector field.
        space: the space of its vectors; its template names the fields as they stand in `_source`.
        indexes: the concrete indexes.
        findings: what was looked at.
        estimates: None where the indexes can't be read.
        alias: for a copy, the alias that readers and writers go by.
    """

    name: str
    mode: Mode
    field: str
    space: Space
    indexes: tuple[PlannedIndex, ...]
    findings: tuple[Finding, ...]
    estimates: Estimates | None
    alias: str | None = None

    @property
    def refused(self) -> bool:
        """Whether anything keeps from attaching."""
        return is_refused(self.findings)

    @property
    def attached(self) -> bool:
        """Whether all that is asked for is there already."""
        return bool(self.indexes) and all(index.attached for index in self.indexes)

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {
            "name": self.name,
            "mode": self.mode,
            "refused": self.refused,
            "attached": self.attached,
            "alias": self.alias,
            "field": self.field,
            "text": list(self.space.template.fields),
            **({"parts": list(parts)} if (parts := self.space.template.parts) else {}),
            "space": self.space.id,
            **{key: msgspec.to_builtins(getattr(self, key)) for key in ("indexes", "findings", "estimates")},
        }


def is_refused(findings: Iterable[Finding]) -> bool:
    """Whether any of the findings keeps from attaching."""
    return any(finding.level == "refused" for finding in findings)
