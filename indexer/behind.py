"""The indexes that a name stands for, as the server tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.indexer.errors import IndexMissing
from trifuse.indexer.names import name_fault


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """One concrete index.

    Args:
        name: its own, never an alias.
        settings: below `index`, as they are: every value is a string.
        mappings: as they are.
        aliases: name to what the alias says of this index.
        data_stream: the data stream that it is a part of.
    """

    name: str
    settings: Mapping[str, Any]
    mappings: Mapping[str, Any]
    aliases: Mapping[str, Any] = msgspec.field(default_factory=dict)
    data_stream: str | None = None

    @property
    def uuid(self) -> str:
        """A later index of this name has another."""
        return str(self.settings["uuid"])

    @property
    def shards(self) -> int:
        """Its primary shards."""
        return int(self.settings["number_of_shards"])

    @property
    def knn(self) -> bool:
        """Whether k-NN is on."""
        return is_on(self.settings.get("knn"))

    @property
    def properties(self) -> Mapping[str, Any]:
        """The mapped fields."""
        found: Mapping[str, Any] = self.mappings.get("properties") or {}
        return found

    @property
    def meta(self) -> Mapping[str, Any]:
        """The mapping's `_meta`."""
        found: Mapping[str, Any] = self.mappings.get("_meta") or {}
        return found


def indexes_behind(client: OpenSearch, name: str) -> list[Index]:
    """The indexes behind the name of an index, an alias or a data stream, by their names: at least one.

    Raises:
        IndexMissing: nothing has that name, or can have it.
    """
    if fault := name_fault(name):
        raise IndexMissing(f"{name!r} can't be the name of an index or alias: {fault}; give one name")
    try:
        found: dict[str, Any] = client.indices.get(index=name)
    except NotFoundError as error:
        raise IndexMissing(
            f"there is no index or alias {name!r}: give the name of one that exists, or make an index with "
            "`trifuse load`"
        ) from error
    return [index_of(index, entry) for index, entry in sorted(found.items())]


def index_known(client: OpenSearch, name: str, uuid: str) -> Index | None:
    """The index that is known by its name and its UUID; None where it is gone, or was made again."""
    try:
        found = indexes_behind(client, name)
    except IndexMissing:
        return None
    return next((index for index in found if index.uuid == uuid), None)


def names_behind(client: OpenSearch, name: str) -> set[str]:
    """The names of the indexes that an index or an alias stands for; none where nothing has that name."""
    return set(client.indices.get(index=name, params={"ignore_unavailable": "true"}))


def aliases_of(client: OpenSearch, index: str) -> dict[str, Any]:
    """The aliases of one index: name to what the alias says of it."""
    found: dict[str, Any] = client.indices.get_alias(index=index)[index]["aliases"]
    return found


def index_of(name: str, entry: Mapping[str, Any]) -> Index:
    """An index as `GET /index` shows it."""
    return Index(
        name=name,
        settings=entry["settings"]["index"],
        mappings=entry.get("mappings") or {},
        aliases=entry.get("aliases") or {},
        data_stream=entry.get("data_stream"),
    )


def is_on(value: object) -> bool:
    """Whether a setting is true: settings come back as strings.

    >>> is_on("true"), is_on(True), is_on("false"), is_on(None)
    (True, True, False, False)
    """
    return str(value).lower() == "true"
