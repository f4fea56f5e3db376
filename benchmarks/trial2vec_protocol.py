"""Which trials are asked for, among which candidates, and which of them are relevant. Pure.

After Trial2Vec (Wang and Sun 2022, 4.1): for each query trial the ten trials of its pool that TF-IDF finds
nearest are judged. There four people judged 1,600 pairs; here a candidate is relevant if it shares a MeSH
term of its conditions that few trials have: a proxy. (The paper's rule on parents of terms needs the tree,
which records don't hold.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from trial2vec_data import Told

from trifuse.deploy.outcome.split import split_of

CANDIDATES = 10
RARE = 300
POOLS = {"test": "test", "dev": "valid"}
HELD_OUT = (7, 8, 9)
"""The tenths of both, as `trifuse train trial2vec --held-out` has them: neither is trained on."""
_ROWS = 256
_Item = TypeVar("_Item")


class Judged(NamedTuple):
    """A query trial, its candidates as TF-IDF orders them, and which of these are relevant."""

    trial: str
    candidates: tuple[str, ...]
    relevant: tuple[bool, ...]


def in_pool(trials: Sequence[Told], pool: str) -> list[Told]:
    """The trials of `test` (sha256 of the id modulo 10 is 8 or 9), `dev` (7) or `train` (the others)."""
    return [trial for trial in trials if split_of(trial.id) == POOLS.get(pool, pool)]


def rare_terms(trials: Sequence[Told], most: int = RARE) -> dict[str, frozenset[str]]:
    """Trial to those of its terms that at most so many trials have."""
    counts = Counter(term for trial in trials for term in trial.mesh)
    return {trial.id: frozenset(term for term in trial.mesh if counts[term] <= most) for trial in trials}


def nearest(vectors: Any, count: int = CANDIDATES) -> list[list[int]]:
    """Of each row the others with the largest inner product; of equals the earlier one first.

    Args:
        vectors: (n, words), sparse.
    """
    found: list[list[int]] = []
    for start in range(0, vectors.shape[0], _ROWS):
        scores = (vectors[start : start + _ROWS] @ vectors.T).toarray()
        own = np.arange(len(scores))
        scores[own, start + own] = -np.inf
        order = np.argsort(-scores, axis=1, kind="stable")[:, : min(count, scores.shape[1] - 1)]
        found.extend(order.tolist())
    return found


def judged(
    pool: Sequence[Told], neighbours: Sequence[Sequence[int]], terms: Mapping[str, frozenset[str]]
) -> list[Judged]:
    """The query trials that have candidates of both kinds, in the pool's order.

    Args:
        neighbours: of each trial of the pool, places of its candidates there.
        terms: as `rare_terms` gives them.
    """
    found = []
    for trial, places in zip(pool, neighbours, strict=True):
        candidates = tuple(pool[place].id for place in places)
        relevant = tuple(bool(terms[trial.id] & terms[other]) for other in candidates)
        if any(relevant) and not all(relevant):
            found.append(Judged(trial.id, candidates, relevant))
    return found


def sample(items: Sequence[_Item], count: int, seed: int) -> list[_Item]:
    """So many of them, drawn without replacement, in their order; all where there aren't more."""
    if count >= len(items):
        return list(items)
    places = np.random.default_rng(seed).choice(len(items), count, replace=False)
    return [items[place] for place in sorted(places.tolist())]
