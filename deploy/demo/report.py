"""What a demonstration found, for `--json`."""

from __future__ import annotations

from typing import Any

import msgspec

from trifuse.deploy.demo.rankings import LEGS, Ranked, by_leg


class Early(msgspec.Struct, frozen=True):
    """A search right after the load.

    Args:
        hits: what BM25 found.
        first: the title of the first hit; None where nothing was found.
        vectors: documents that had a vector by then.
        dense: the state of the dense leg: `ok` or `empty`.
    """

    hits: int
    first: str | None
    documents: int
    vectors: int
    dense: str
    reason: str | None


class Report(msgspec.Struct, kw_only=True):
    """The whole demonstration.

    Args:
        load: `read`, `indexed`, `unchanged` and `rejected`, each a count.
        counts: of the trials: `documents`, `current`, `stale`, `missing`, `failed`, `empty`.
        clicks: what became of the click log; None where there was none to load.
        sentences: how many there are, have vectors and were written now, and the best; None if not asked for.
        similar: past queries that gave evidence, the heaviest first, with their similarity.
        legs: state of each signal.
        rankings: ids, the best first: `lexical`, `dense`, `clicks` by themselves, and `fused`.
        hits: the fused hits with what each signal gave.
        seconds: step to the time that it took.
    """

    index: str
    query: str
    services: dict[str, Any]
    load: dict[str, int]
    early: Early
    counts: dict[str, Any]
    clicks: dict[str, Any] | None
    sentences: dict[str, Any] | None
    similar: dict[str, float]
    legs: dict[str, Any]
    rankings: dict[str, list[str]]
    hits: list[Ranked]
    seconds: dict[str, float]


def rankings_of(hits: list[Ranked]) -> dict[str, list[str]]:
    """The ids of each ranking, the best first."""
    by_signal = {leg: [hit.id for hit in by_leg(hits, leg)] for leg in LEGS}
    return {**by_signal, "fused": [hit.id for hit in hits]}
