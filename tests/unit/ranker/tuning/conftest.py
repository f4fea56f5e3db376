"""Queries as they would be collected, without a server."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from trifuse.ranker.clicks.evidence import ClickEvidence, Clicks
from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.records import doc_hash, pack
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.tuning.collected_query import CollectedQuery
from trifuse.ranker.types import Key

MakeQuery = Callable[..., CollectedQuery]


def click_evidence(rng: np.random.Generator, ids: list[str], settings: ClickSettings) -> ClickEvidence:
    """What a log of five past queries says, each of which some of the documents were clicked for."""
    past = [PastQuery(f"{n:024x}", f"past {n}", float(rng.uniform(0.6, 1.0))) for n in range(5)]
    strings = [
        b"".join(
            pack(doc_hash(id), 0.0, float(rng.integers(1, 9)), 0.5)
            for id in rng.choice(ids, size=min(6, len(ids)), replace=False).tolist()
        )
        for _ in past
    ]
    lookup = Lookup(PastQuery("f" * 24, "the query itself", 1.0), "cosine", settings)
    clicks = Clicks.read(lookup, past, strings, half_life_days=90.0)
    pool = clicks.pool()
    known = {doc_hash(id): id for id in ids}
    clicks = clicks.named(pool, [known[each] for each in clicks.hashes(pool)])
    return ClickEvidence(clicks.scores(clicks.shares()), segment="HEAD", clicks=clicks)


@pytest.fixture
def make_query() -> MakeQuery:
    """A query of so many hits a leg, drawn from a pool of documents, with clicks on some of them."""

    def make(
        seed: int,
        *,
        hits: int = 20,
        pool: int = 40,
        settings: ClickSettings | None = None,
        coarse: bool = False,
        namesakes: bool = False,
        clicks: bool = True,
    ) -> CollectedQuery:
        rng = np.random.default_rng(seed)
        ids = [f"d{number:03d}" for number in range(pool)]
        keys = [Key(id, "one") for id in ids] + [Key(id, "two") for id in ids if namesakes]
        legs = {}
        for leg in ("lexical", "dense"):
            chosen = rng.choice(len(keys), size=hits, replace=False)
            scores = rng.integers(1, 6, hits) / 5 if coarse else rng.uniform(0.3, 1.0, hits)
            order = np.argsort(-scores, kind="stable")
            legs[leg] = [(keys[chosen[at]], float(scores[at])) for at in order]
        evidence = click_evidence(rng, ids, settings or ClickSettings()) if clicks else None
        named = set(evidence.clicks.names.values()) if evidence and evidence.clicks else set()
        there = [key for key in keys if key.id in named and rng.random() < 0.8]
        brought = [key for pairs in legs.values() for key, _ in pairs if key.id in named]
        return CollectedQuery.of(
            f"query {seed}",
            legs,
            evidence=evidence,
            there={*there, *brought},
            settles=not namesakes,
            similarity="cosine",
        )

    return make
