"""Settings of the click leg, scored on the queries of NFCorpus's pseudo log itself."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from log_tuning import (
    Floats,
    Held,
    Log,
    Positions,
    Setting,
    case,
    cross_validated,
    ideal_dcg,
    ndcg,
    values_of,
)
from nfcorpus_index import tell
from nfcorpus_legs import mean_of_legs
from nfcorpus_visits import Counted

from trifuse.encoder.types import Encoder
from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.evaluation import Judgements, Queries
from trifuse.ranker.evaluation.significance import bootstrap_ci

SHARES = (1.0, 0.3, 0.1, 0.03)
"""Of the log; the first is what is reported."""


@dataclass(frozen=True)
class Tuned:
    """Every setting on every query that has a relevant document.

    Args:
        settings: those tried.
        values: (shares of the log, settings, queries) nDCG@10.
        without: (queries,) nDCG@10 without the log.
        folds: (queries,) fold of each query.
        scale: the mean similarity of a query to itself: settings are in units of it, 1 for cosines.
    """

    settings: list[Setting]
    values: Floats
    without: Floats
    folds: Positions
    scale: float

    def held(self) -> Held:
        """Chosen by the mean over the shares of the log; values with the whole of it."""
        return cross_validated(self.values.mean(axis=0), self.values[0], self.folds)


def tune(
    documents: Queries,
    queries: Queries,
    judgements: Judgements,
    lexical: Sequence[Sequence[tuple[int, float]]],
    encoder: Encoder,
    settings: Sequence[Setting],
    *,
    folds: int,
    seed: int,
    counts: Counted | None = None,
    only: Collection[str] | None = None,
) -> Tuned:
    """Score every setting on every query of the log.

    Args:
        lexical: of `lexical_hits`.
        counts: a log in the place of the judgements: what was clicked for each query.
        only: these queries are asked, and the others are the log, in the place of folds: for an encoder that
            was trained on the others.
    """
    places = {document: place for place, document in enumerate(documents)}
    clicked = [
        [
            (places[d], float(grade))
            for d, grade in judgements.get(query, {}).items()
            if grade > 0 and d in places
        ]
        for query in queries
    ]
    if counts is None:
        log = Log.of([[(document, grade, 0.0) for document, grade in pairs] for pairs in clicked])
    else:
        log = Log.of([[(places[d], *numbers) for d, *numbers in pairs] for pairs in counts])
    vectors = encoder.encode_queries(list(queries.values())).astype(np.float64)
    document_vectors = encoder.encode_documents(list(documents.values())).astype(np.float64)
    _, forms = np.unique([normalize_query(text) for text in queries.values()], return_inverse=True)
    rng = np.random.default_rng(seed)
    fold, order = rng.permutation(len(queries)) % folds, rng.permutation(len(queries))
    if only is not None:
        fold = np.array([0 if query in only else 1 for query in queries])
    judged = [
        bool(pairs) and (only is None or query in only) for query, pairs in zip(queries, clicked, strict=True)
    ]
    asked = np.flatnonzero(judged)
    norms = np.square(vectors).sum(axis=1)
    scale = 1.0 if encoder.space.similarity == "cosine" else float(norms.mean())
    values = np.empty((len(SHARES), len(settings), len(asked)))
    without = np.empty(len(asked))
    nearest = max(setting.m for setting in settings)
    started = time.monotonic()
    for row, query in enumerate(asked.tolist()):
        gains = np.zeros(len(documents))
        for document, grade in clicked[query]:
            gains[document] = grade
        found = mean_of_legs(lexical[query], document_vectors @ vectors[query])
        without[row] = ndcg(found, gains, ideal_dcg(gains))
        similarity = vectors @ vectors[query] / scale
        allowed = (fold != fold[query]) & (forms != forms[query])
        for place, share in enumerate(SHARES):
            part = allowed & (order < share * len(queries))
            one = case(found, similarity, part, log, gains, nearest)
            values[place, :, row] = list(values_of(one, settings))
        if row % 250 == 249:
            tell(f"{row + 1} of {len(asked)} queries in {time.monotonic() - started:.0f} s")
    groups = fold[asked] if only is None else rng.permutation(len(asked)) % folds
    return Tuned(list(settings), values, without, groups, scale)


def summary(tuned: Tuned) -> dict[str, Any]:
    """What was chosen, what it is worth held out, and what each choice alone changes."""
    held = tuned.held()
    best = tuned.settings[held.best]
    gain = held.held_out - tuned.without
    return {
        "best": best._asdict(),
        "by_fold": [tuned.settings[choice]._asdict() for choice in held.chosen],
        "hybrid": _mean(tuned.without),
        "heldout": _mean(held.held_out),
        "gain": _mean(gain),
        "by_share": {
            f"{share:g}": float(values[held.best].mean())
            for share, values in zip(SHARES, tuned.values, strict=True)
        },
        "around": {
            name: {
                f"{value:g}": [float(tuned.values[share, place].mean()) for share in range(len(SHARES))]
                for place, value in _others(tuned.settings, best, name)
            }
            for name in Setting._fields
        },
        "scale": tuned.scale,
        "queries": len(tuned.without),
        "settings_tried": len(tuned.settings),
    }


def _others(settings: Sequence[Setting], best: Setting, name: str) -> list[tuple[int, float]]:
    """Those that differ from the best in one choice at most, and that choice."""
    return [
        (place, getattr(setting, name))
        for place, setting in enumerate(settings)
        if setting._replace(**{name: getattr(best, name)}) == best
    ]


def _mean(values: Floats) -> dict[str, Any]:
    return {"mean": float(values.mean()), "ci95": list(bootstrap_ci(values.tolist()))}
