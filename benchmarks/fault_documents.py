"""The documents of the fault matrix, an owner who edits them meanwhile, and what each must be at the end."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError
from tiny_model import make_model

WORDS = tuple(
    f"{left}{right}" for left in ("car", "neu", "hep", "ost", "der", "gas") for right in ("ol", "an", "ix")
)
UNREADABLE = 2
"""Documents of which a tiny model knows no word: they can't be embedded, and must stand as failed."""

BROKEN = 12
"""Lines of the file that are no records."""

EDITED = 0.05
PAUSE_S = 0.1
"""Between two edits of the owner: they go on while a job ends, and an alias moves."""

WITHIN_S = 60.0


def tiny_encoder(folder: Path, name: str, dimension: int) -> str:
    """The folder of a model of a few kB, made if it isn't there."""
    made = folder / name
    if not made.exists():
        rows = np.random.default_rng(dimension).normal(size=(len(WORDS), dimension)).tolist()
        make_model(
            made,
            dict(zip(WORDS, rows, strict=True)),
            name=name,
            normalized=True,
            similarity="cosine",
            max_tokens=64,
        )
    return str(made)


class Documents:
    """What each document of a cell must be, by id; None where it was deleted.

    Args:
        number: how many there are.
        unreadable: the last of them that no tiny model can embed.
    """

    def __init__(self, number: int, *, unreadable: int = UNREADABLE) -> None:
        self._random = random.Random(number)
        self.expected: dict[str, dict[str, Any] | None] = {}
        for place in range(number):
            known = place < number - unreadable
            self.expected[f"NCT{place:08d}"] = self._source(f"NCT{place:08d}", known=known)
        self.unreadable = frozenset(list(self.expected)[number - unreadable :] if unreadable else ())
        self.edits = 0

    def _source(self, doc_id: str, *, known: bool = True) -> dict[str, Any]:
        words = self._random.choices(WORDS, k=8) if known else ["unheard", "of"]
        return {"nct_id": doc_id, "brief_title": " ".join(words), "status": "RECRUITING"}

    @property
    def present(self) -> dict[str, dict[str, Any]]:
        """Those that aren't deleted."""
        return {doc_id: source for doc_id, source in self.expected.items() if source is not None}

    def more(self, number: int) -> dict[str, dict[str, Any]]:
        """New ones, which aren't expected yet."""
        ids = [f"NCT8{place:07d}" for place in range(number)]
        return {doc_id: self._source(doc_id) for doc_id in ids}

    def edit(self, client: OpenSearch, index: str, routing: Mapping[str, str], changed: set[str]) -> None:
        """Write a twentieth of the documents that are in the index, as its owner would.

        A third is written anew, which drops the vector; a third gets another title, which leaves a stale one;
        a sixth is deleted, and as many new ones come. `changed` gets their ids first.
        """
        client.indices.refresh(index=index)
        hits = client.search(index=index, body={"size": 10_000, "_source": False})["hits"]["hits"]
        there = [hit["_id"] for hit in hits if hit["_id"] not in self.unreadable]
        chosen = self._random.sample(sorted(there), max(6, round(len(self.expected) * EDITED)))
        changed.update(chosen)
        for place, doc_id in enumerate(chosen):
            fresh, where = self._source(doc_id), {"routing": routing[doc_id]} if doc_id in routing else {}
            match place % 6:
                case 0 | 1:
                    _insist(lambda: client.index(index=index, id=doc_id, body=fresh, params=where))  # noqa: B023
                case 2 | 3:
                    part = {"doc": {"brief_title": fresh["brief_title"]}}
                    _insist(lambda: client.update(index=index, id=doc_id, body=part, params=where))  # noqa: B023
                case 4:
                    _insist(lambda: client.delete(index=index, id=doc_id, params=where))  # noqa: B023
                    fresh = None
                case _:
                    doc_id = f"NCT9{place:07d}"
                    changed.add(doc_id)
                    fresh = self._source(doc_id)
                    _insist(lambda: client.index(index=index, id=doc_id, body=fresh))  # noqa: B023
            self.expected[doc_id] = fresh
            self.edits += 1
            time.sleep(PAUSE_S)


def write_file(path: Path, sources: Iterable[Mapping[str, Any]]) -> int:
    """Documents as a file for `trifuse load`, broken lines among them; how many lines."""
    lines = [json.dumps(source) for source in sources]
    step = len(lines) // BROKEN
    for place in range(BROKEN):
        lines.insert(place * (step + 1), json.dumps({"nct_id": f"no id at all, {place}"}))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return len(lines)


def _insist(write: Any) -> None:
    """Write, and again where a switch of the alias blocks writes for a moment, or another was faster."""
    end = time.monotonic() + WITHIN_S
    while True:
        try:
            write()
            return
        except TransportError as error:
            if error.status_code not in (403, 409, 429) or time.monotonic() > end:
                raise
        time.sleep(0.2)
