"""The methods of a table: each query's candidates scored by each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from trial2vec_data import CONDITIONS, FLAT, FULL, Told, texts_of
from trial2vec_lexical import Scores, bm25_scores, counts, tfidf, vector_scores
from trial2vec_protocol import Judged, in_pool, judged, nearest, rare_terms, sample
from trial2vec_vectors import Vectors, whitened

from trifuse.deploy.outcome.texts import word_vectors
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.trial_parts import trial_parts

OURS = "trial2vec"
FLAT_MODEL = "bge-small-en-v1.5"
CHUNK_MODEL = "bge-small-en-v1.5-int8"
"""Reads several times as much text, so in whole numbers; their cosines to the other are about 0.997."""

WHITENING_TRIALS = 1000

HIDDEN = ", no condition"
"""Ends the name of a method that sees neither conditions nor keywords."""

UNNAMED: Mapping[str, Any] = {"conditions": [], "keywords": []}
"""What names a disease in so many words, taken away."""

PARTIAL: Mapping[str, tuple[str, ...]] = {
    "title": ("title",),
    "condition": ("condition",),
    "intervention": ("intervention",),
    "outcome": ("outcome",),
    "context": ("context",),
    "title + condition": ("title", "condition"),
    "title + intervention": ("title", "intervention"),
    "condition + intervention": ("condition", "intervention"),
}
"""What a query is made of, where it isn't the whole trial."""


Embed = Callable[[Sequence[Mapping[str, str]]], Any]
"""A model of parts: the texts of n trials' parts to (n, dim) of unit norm, zero where a trial has none."""


@dataclass(frozen=True)
class Asked:
    """A corpus, and the query trials that are asked among a pool of it.

    Args:
        trials: all of them: words are counted, and terms found rare, over all.
        queries: of the pool.
        eligible: how many queries the pool has in all.
    """

    trials: Sequence[Told]
    queries: Sequence[Judged]
    eligible: int

    @property
    def used(self) -> list[Told]:
        """The trials that are a query or a candidate."""
        named = {each for query in self.queries for each in (query.trial, *query.candidates)}
        return [trial for trial in self.trials if trial.id in named]


def ask(trials: Sequence[Told], pool: str, count: int, seed: int) -> Asked:
    """Query trials of a pool, drawn by a seed.

    Args:
        pool: `test` or `dev`.
        count: queries, at most.
    """
    members = in_pool(trials, pool)
    places = rows_of(trials)
    words = tfidf(texts_of(trials, FULL))
    neighbours = nearest(words[[places[trial.id] for trial in members]])
    found = judged(members, neighbours, rare_terms(trials))
    return Asked(trials, sample(found, count, seed), len(found))


def rows_of(trials: Iterable[Told]) -> dict[str, int]:
    """Trial to its place."""
    return {trial.id: place for place, trial in enumerate(trials)}


def lexical(asked: Asked) -> dict[str, list[Scores]]:
    """By words: the order that the candidates stand in, and BM25 over a query's ten and over all trials."""
    places, words = rows_of(asked.trials), counts(texts_of(asked.trials, FULL))
    return {
        "tfidf": by_tfidf(asked),
        "tfidf of conditions": by_tfidf(asked, CONDITIONS),
        "bm25": [bm25_scores(asked.queries, places, words, over_all=False)],
        "bm25 over all": [bm25_scores(asked.queries, places, words, over_all=True)],
    }


def by_tfidf(asked: Asked, template: TextTemplate = FULL) -> list[Scores]:
    """By the words of some fields."""
    words = tfidf(texts_of(asked.trials, template))
    return [vector_scores(asked.queries, rows_of(asked.trials), words)]


def dense(
    asked: Asked, vectors: Vectors, seed: int, without: Collection[str] = ()
) -> dict[str, list[Scores]]:
    """By vectors of texts that know no parts.

    Args:
        without: names of methods that aren't wanted.
    """
    flat_texts = texts_of(asked.used, FLAT)
    made: dict[str, Callable[[], Any]] = {
        "word vectors": lambda: words_of(asked, seed),
        "flat": lambda: vectors.of(FLAT_MODEL, flat_texts),
        "whitening": lambda: whitened(vectors.of(FLAT_MODEL, flat_texts), learned_flat(asked, vectors, seed)),
        "mean of chunks": lambda: vectors.mean_of_chunks(CHUNK_MODEL, texts_of(asked.used, FULL)),
        "simcse": lambda: simcse(asked, flat_texts, seed),
    }
    places = rows_of(asked.used)
    return {
        name: [vector_scores(asked.queries, places, rows())]
        for name, rows in made.items()
        if name not in without
    }


def learned_flat(asked: Asked, vectors: Vectors, seed: int) -> Any:
    """Flat vectors of some training trials."""
    some = sample(in_pool(asked.trials, "train"), WHITENING_TRIALS, seed)
    return vectors.of(FLAT_MODEL, texts_of(some, FLAT))


def words_of(asked: Asked, seed: int) -> Any:
    """Means of word vectors that are learned from the training trials' full texts."""
    train = in_pool(asked.trials, "train")
    texts = texts_of([*train, *asked.used], FULL)
    return word_vectors(texts, np.arange(len(texts)) < len(train), seed=seed)[len(train) :]


def simcse(asked: Asked, texts: Sequence[str], seed: int) -> Any:
    """Vectors by a backbone that is trained first."""
    from trial2vec_simcse import SimCse

    model = SimCse(FLAT_MODEL)
    model.train(texts_of(in_pool(asked.trials, "train"), FLAT), seed)
    return model.encode(texts)


def ours(asked: Asked, models: Sequence[Embed], of_queries: Sequence[str] | None = None) -> list[Scores]:
    """By each model of parts.

    Args:
        of_queries: parts that query trials show; None: all that they have.
    """
    found = []
    for embed in models:
        whole = embed(parts_of(asked.used))
        shown = embed(parts_of(asked.used, of_queries)) if of_queries else None
        found.append(vector_scores(asked.queries, rows_of(asked.used), whole, shown))
    return found


def parts_of(trials: Iterable[Told], parts: Sequence[str] | None = None) -> list[dict[str, str]]:
    """The texts of trials' parts, of all or of some."""
    named = (trial_parts(trial.source) for trial in trials)
    return [{part: text for part, text in each.items() if not parts or part in parts} for each in named]


def by_parts(asked: Asked, models: Sequence[Embed]) -> dict[str, list[Scores]]:
    """Asked by single parts, and where nothing names the disease."""
    hidden = unnamed(asked)
    return {
        OURS: ours(asked, models),
        **{f"{OURS} by {name}": ours(asked, models, parts) for name, parts in PARTIAL.items()},
        f"tfidf{HIDDEN}": by_tfidf(hidden),
        f"{OURS}{HIDDEN}": ours(hidden, models),
    }


def unnamed(asked: Asked) -> Asked:
    """The same, where neither queries nor candidates name the disease in so many words."""
    return replace(asked, trials=[each._replace(source=dict(each.source) | UNNAMED) for each in asked.trials])
