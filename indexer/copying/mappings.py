"""Fields that one of source and copy has got, given to the other before documents bring other types along."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from trifuse.encoder.marks import MARKS
from trifuse.indexer.copying.body import copy_properties, own_properties
from trifuse.indexer.copying.copies import Copy
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.retry import reason_of


def give_mapping(client: OpenSearch, copy: Copy, known: str) -> str:
    """Give the copy the fields of its source.

    Args:
        known: a hash of the source's mapping as the copy has it.

    Returns:
        The hash now.

    Raises:
        NotFoundError: there is no source.
        CopyRefused: it is another than the one that was copied, or the copy can't have its mapping.
    """
    found: dict[str, Any] = client.indices.get(index=copy.source, params={"flat_settings": "true"})
    entry = found.get(copy.source)
    if entry is None or entry["settings"]["index.uuid"] != copy.source_uuid:
        raise CopyRefused(
            f"the index {copy.source!r} is another than the one that {copy.index!r} is a copy of: it was "
            f"deleted and made again; `trifuse reembed {copy.index} --abandon` deletes the copy"
        )
    mapping: Mapping[str, Any] = entry["mappings"]
    kept = {key: value for key, value in mapping.items() if key not in ("_meta", "_source", "_routing")}
    digest = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]
    if digest != known:
        properties = copy_properties(entry, copy.field, copy.space, copy.drop)
        try:
            client.indices.put_mapping(index=copy.index, body={**kept, "properties": properties})
        except RequestError as error:
            raise CopyRefused(
                f"the copy {copy.index!r} can't have the mapping that {copy.source!r} has now "
                f"({reason_of(error)}): abandon the copy, and begin it again"
            ) from error
    return digest


def return_mapping(client: OpenSearch, copy: Copy) -> None:
    """Give the source the fields that the copy has got since the switch.

    Raises:
        CopyRefused: it can't have them.
    """
    mapping = client.indices.get_mapping(index=copy.index)[copy.index]["mappings"]
    properties = {
        name: value for name, value in mapping.get("properties", {}).items() if name not in (MARKS, *copy.own)
    }
    there = client.indices.get_mapping(index=copy.source)[copy.source]["mappings"]
    properties = own_properties(properties, there.get("properties") or {})
    try:
        client.indices.put_mapping(index=copy.source, body={"properties": properties})
    except RequestError as error:
        raise CopyRefused(
            f"the index {copy.source!r} can't have the mapping that its copy has now "
            f"({reason_of(error)}): there is no way back; `trifuse reembed` goes on from here"
        ) from error
