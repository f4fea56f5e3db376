"""The documents that stored profiles are: the index's body, a version, and which one is current. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trifuse.ranker.profiles.versions import ProfileVersion, Reference

VERSION, CURRENT = "version", "current"
"""The kinds of documents."""


def profiles_body() -> dict[str, Any]:
    """The body of the index; settings and evidence are kept as they are, and not searched."""
    kept = {"type": "object", "enabled": False}
    properties = {
        "kind": {"type": "keyword"},
        "name": {"type": "keyword"},
        "version": {"type": "integer"},
        "at": {"type": "date"},
        "note": {"type": "keyword", "index": False, "doc_values": False},
        "profile": kept,
        "evidence": kept,
    }
    settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
    return {"settings": {"index": settings}, "mappings": {"dynamic": "strict", "properties": properties}}


def version_document(
    reference: Reference, settings: Mapping[str, Any], note: str, evidence: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The document of a version that is stored now."""
    return {
        "kind": VERSION,
        "name": reference.name,
        "version": reference.version,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "note": note,
        "profile": settings,
        "evidence": evidence,
    }


def current_document(reference: Reference) -> dict[str, Any]:
    """The document that says which version is current."""
    return {"kind": CURRENT, "name": reference.name, "version": reference.version}


def read_version(index: str, found: Mapping[str, Any], current: int) -> ProfileVersion | None:
    """The version that a document holds, whatever else was done to it; None where its id is no version's.

    Args:
        found: with `_id` and `_source`.
        current: the version that is.
    """
    reference, source = Reference.parse(found["_id"]), found.get("_source") or {}
    if reference is None or reference.version is None:
        return None
    evidence = source.get("evidence")
    return ProfileVersion(
        name=reference.name,
        version=reference.version,
        at=str(source.get("at") or ""),
        note=str(source.get("note") or ""),
        settings=source.get("profile"),
        evidence=evidence if isinstance(evidence, Mapping) else None,
        current=reference.version == current,
        place=f"{index}/{found['_id']}",
    )


@dataclass(frozen=True)
class Pointer:
    """Which version is current.

    Args:
        version: 0: the document doesn't say, for it was changed by other means.
        condition: what a write is sent with that must find it as it was.
    """

    version: int
    condition: Mapping[str, Any]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Pointer:
        """Read the document."""
        version = (found.get("_source") or {}).get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            version = 0
        return cls(version, {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]})
