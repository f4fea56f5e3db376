"""Fields of a filter that no mapping has: such a filter matches nothing, and the server doesn't say why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from trifuse.deploy.cli.common import say
from trifuse.indexer.mapped import leaves
from trifuse.ranker.queries import fields_of, walk


def hint_unmapped(
    client: OpenSearch, index: str, filter: Mapping[str, Any] | None, *, sentences: bool = False
) -> None:
    """Say which fields of a filter none of the indices has; where they can't be read, nothing.

    Args:
        sentences: whether they are indices of sentences, which have few of their documents' fields.
    """
    if filter is None:
        return
    try:
        answer = client.indices.get_mapping(index=index)
    except OpenSearchException:
        return
    hints = unmapped(filter, [about["mappings"] for about in answer.values()])
    for hint in hints:
        say(hint, "yellow")
    if hints and sentences:
        say("sentences repeat those fields of documents that `attach --filters` named", "yellow")


def unmapped(filter: Mapping[str, Any], mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each field of a filter that isn't mapped.

    >>> unmapped({"term": {"phse": "2"}}, [{"properties": {"phase": {"type": "keyword"}}}])
    ["no field 'phse' in the mapping: did you mean 'phase'?"]
    """
    known: dict[str, str] = {}
    for mapping in mappings:
        known |= {leaf.path: leaf.type for leaf in leaves(mapping.get("properties") or {})}
        known |= dict.fromkeys(mapping.get("derived") or {}, "derived")
    return [
        f"no field {name!r} in the mapping{_meant(name, known)}"
        for name in dict.fromkeys(name for step in walk(filter) for name in fields_of(step) or ())
        if not _is_known(name, known)
    ]


def _is_known(name: str, known: Mapping[str, str]) -> bool:
    """Whether it is mapped, is an object, may be in what is kept flat, or is no field of a mapping at all."""
    if not name or name.startswith("_") or "*" in name or "#" in name or name in known:
        return True
    parts = name.split(".")
    above = (".".join(parts[:end]) for end in range(1, len(parts)))
    flat = any(known.get(each) in ("derived", "flat_object") for each in above)
    return flat or any(each.startswith(f"{name}.") for each in known)


def _meant(name: str, known: Mapping[str, str]) -> str:
    """What is like it in the same object; or what it would be another way of indexing; or what is like it."""
    parent = name.rpartition(".")[0]
    beside = [each for each in known if each.rpartition(".")[0] == parent]
    near = get_close_matches(name, beside, n=1) or [each for each in known if each == parent]
    near = near or get_close_matches(name, known, n=1)
    return f": did you mean {near[0]!r}?" if near else ""
