"""What must hold at the end of a cell of the fault matrix."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from fault_documents import Documents
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS
from trifuse.encoder.registry import describe_encoder, load_encoder
from trifuse.encoder.spaces import serving_field
from trifuse.encoder.templates import build_text, text_hash
from trifuse.indexer.embedded import EmbeddedField, embedded_field
from trifuse.indexer.failures import failure_pages

WITHIN_S = 120.0
COMPARED = 16
"""Documents whose vectors are made again, to compare, where the encoder isn't a tiny one."""

ALL = 10_000


class Broken(Exception):
    """The end isn't as it must be."""


def demand(true: bool, what: str) -> None:
    """Raise Broken with what isn't so."""
    if not true:
        raise Broken(what)


def eventually(true: Callable[[], bool], what: str) -> None:
    """Wait until it is true.

    Raises:
        Broken: it wasn't within two minutes.
    """
    end = time.monotonic() + WITHIN_S
    while not true():
        demand(time.monotonic() < end, f"{what}: not within {WITHIN_S:.0f} s")
        time.sleep(0.02)


def concrete(client: OpenSearch, name: str) -> str:
    """The one index behind a name."""
    found = list(client.indices.get(index=name))
    demand(len(found) == 1, f"{name} stands for {found}, expected one index")
    return str(found[0])


def served(client: OpenSearch, name: str, encoder: str) -> EmbeddedField:
    """The vector field that queries go by, once it is known to be in the encoder's space."""
    index = concrete(client, name)
    meta = client.indices.get_mapping(index=index)[index]["mappings"].get("_meta")
    field = serving_field(meta)
    demand(field is not None, f"{index} has no vector field")
    target = embedded_field(client, index, str(field))
    expected = describe_encoder(encoder)
    demand(
        target.space.encoder == expected, f"{index} is in {target.space.encoder.id}, expected {expected.id}"
    )
    return target


def read(client: OpenSearch, index: str) -> list[dict[str, Any]]:
    """Every document, with its version."""
    client.indices.refresh(index=index)
    hits: list[dict[str, Any]] = client.search(index=index, body={"size": ALL, "version": True})["hits"][
        "hits"
    ]
    return hits


def check_documents(client: OpenSearch, target: EmbeddedField, documents: Documents, encoder: str) -> int:
    """Each document is the owner's newest, and has its vector or a reason; how many have a vector.

    Raises:
        Broken: one isn't so.
    """
    hits = read(client, target.index)
    found = {hit["_id"]: hit["_source"] for hit in hits}
    present = documents.present
    lost, extra = present.keys() - found.keys(), found.keys() - present.keys()
    demand(
        not lost and not extra,
        f"{len(lost)} documents are lost: {_few(lost)}, {len(extra)} came back: {_few(extra)}",
    )
    client.indices.refresh(index="trifuse-failed", params={"ignore_unavailable": "true"})
    failed = {item.doc_id: item for page in failure_pages(client, target) for item in page}
    demand(
        failed.keys() == documents.unreadable,
        f"failed are {_few(failed)}, expected {_few(documents.unreadable)}",
    )
    demand(all(item.reason for item in failed.values()), "a failure has no reason")
    embedded = []
    for doc_id, source in found.items():
        wanted = present[doc_id]
        demand(
            source["brief_title"] == wanted["brief_title"],
            f"{doc_id} has the title {source['brief_title']!r}, expected {wanted['brief_title']!r}",
        )
        if doc_id not in failed:
            _check_mark(doc_id, source, target)
            embedded.append(source)
    _compare(embedded, target, encoder)
    return len(embedded)


def _check_mark(doc_id: str, source: Mapping[str, Any], target: EmbeddedField) -> None:
    text = build_text(source, target.space.template)
    wanted = {"space": target.space.id, "hash": text_hash(text)}
    mark = source.get(MARKS, {}).get("fields", {}).get(target.field)
    demand(mark == wanted, f"{doc_id} has the mark {mark}, expected {wanted}")
    demand(source.get(target.field) is not None, f"{doc_id} has a mark and no vector")


def _compare(sources: list[Mapping[str, Any]], target: EmbeddedField, encoder: str) -> None:
    """Vectors against those of an encoder of our own: all of a tiny model, a sample of another."""
    sample = sources if encoder.startswith("/") else sources[:: max(1, len(sources) // COMPARED)]
    texts = [build_text(source, target.space.template) for source in sample]
    expected = load_encoder(encoder).encode_documents(texts)
    found = np.array([source[target.field] for source in sample], dtype=np.float32)
    demand(found.shape == expected.shape, f"vectors have the shape {found.shape}, expected {expected.shape}")
    least = float(np.einsum("ij,ij->i", found, expected).min())
    demand(least > 0.999, f"a vector isn't that of its text: cosine {least:.4f}")


def check_refresh(client: OpenSearch, name: str, expected: str | None) -> None:
    """The owner's refresh interval is back."""
    index = concrete(client, name)
    settings = client.indices.get_settings(index=index)[index]["settings"]["index"]
    found = settings.get("refresh_interval")
    demand(found == expected, f"refresh_interval is {found}, expected {expected}")
    demand("blocks" not in settings, f"a block is left: {settings.get('blocks')}")


def _few(ids: Any) -> str:
    listed = sorted(ids)
    return ", ".join(listed[:3]) + (" ..." if len(listed) > 3 else "") or "none"
