"""What moves every alias from one index to another in one request. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEPT = ("filter", "index_routing", "search_routing", "is_write_index", "is_hidden")


def moves(
    aliases: Mapping[str, Mapping[str, Any]],
    *,
    old: str,
    new: str,
    alias: str | None = None,
    door: str | None = None,
) -> list[dict[str, Any]]:
    """The actions of an `_aliases` request that lets `new` stand wherever `old` stood.

    All aliases of `old` move: each is a way to these documents, and one left behind would lead its readers to
    an index that nobody writes any more. Each keeps its filter and its routings. An alias over several
    indexes goes on standing for the others.

    Args:
        aliases: the aliases of `old`, by name, as the server tells them.
        alias: stands for `new` afterwards, also where it stood for nothing; None asks for none.
        door: an alias of `new` that ends with the move: where it has gone already, nothing moves.

    >>> moves({}, old="a", new="b", alias="live")
    [{'add': {'index': 'b', 'alias': 'live'}}]
    """
    actions: list[dict[str, Any]] = []
    if door is not None:
        actions.append({"remove": {"index": new, "alias": door, "must_exist": True}})
    wanted: Mapping[str, Mapping[str, Any]] = aliases if alias is None else {alias: {}, **aliases}
    for name, value in wanted.items():
        kept = {key: value[key] for key in _KEPT if key in value}
        if name in aliases:
            actions.append({"remove": {"index": old, "alias": name, "must_exist": True}})
        actions.append({"add": {"index": new, "alias": name, **kept}})
    return actions
