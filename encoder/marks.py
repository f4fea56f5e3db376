"""What stands beside a vector in a document: the mark that says which space and which text it was made from.

{"trifuse": {"record": "...", "fields": {"trifuse_vector": {"space": "...", "hash": "..."}}}}
"""

from __future__ import annotations

VECTOR_FIELD = "trifuse_vector"
MARKS = "trifuse"
RECORD_PATH = "trifuse.record"
EMPTY_HASH = "empty"
"""The hash of a document whose template's fields hold no text: nothing is pending for it."""


def space_path(field: str) -> str:
    """The path of the space's id in a document."""
    return f"trifuse.fields.{field}.space"


def hash_path(field: str) -> str:
    """The path of the hash of the text that the vector was made from."""
    return f"trifuse.fields.{field}.hash"


def mark(field: str, space_id: str, text_hash: str) -> dict[str, object]:
    """The part of a document that marks `field` as made from that text in that space."""
    return {MARKS: {"fields": {field: {"space": space_id, "hash": text_hash}}}}
