"""How much each of all documents' sentences scores for a query: by one vector, or as `--aspect` searches.

`--aspect` over all documents takes two steps (`trifuse.ranker.sentence_aspects`): documents by the topic, by
the plain encoder, then their sentences by the topic and the aspect. Here both are done on vectors at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.types import Vectors
from trifuse.ranker.evaluation.asking import Ask
from trifuse.ranker.sentence_aspects import DOCUMENTS
from trifuse.ranker.sentences import ASPECT_PROFILE

_ELSEWHERE = -9.0
"""A topic's score for documents that it doesn't find: their sentences come behind all others."""

Scores = NDArray[np.float64]


class Sentences(NamedTuple):
    """The sentences of all documents.

    Args:
        vectors: (sentences, dim), of length 1, or 0 where a sentence can't be encoded.
        owner: (sentences,): the number of each one's document.
        starts: (documents + 1,): where each document's begin.
    """

    vectors: Vectors
    owner: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: Sequence[Vectors]) -> Sentences:
        """From each document's (sentences, dim); NaN where one can't be encoded."""
        counts = [len(each) for each in vectors]
        every = np.nan_to_num(np.concatenate(list(vectors)), nan=0.0)
        return cls(every, np.repeat(np.arange(len(counts)), counts), np.cumsum([0, *counts]))


Way = Callable[[Sentences, Sequence[str], str], Iterator[Scores]]
"""Topics and an aspect to each topic's (sentences,) scores."""


def in_one_step(ask: Ask) -> Way:
    """Each sentence by the cosine of its vector and the query's."""

    def scores(sentences: Sentences, topics: Sequence[str], aspect: str) -> Iterator[Scores]:
        return ((sentences.vectors @ query).astype(np.float64) for query in ask(topics, aspect))

    return scores


def in_two_steps(plain: Ask, ask: Ask) -> Way:
    """As `--aspect` searches.

    Args:
        plain: asks for the topic.
        ask: asks for the aspect.
    """
    by_topic, by_aspect = in_one_step(plain), in_one_step(ask)

    def scores(sentences: Sentences, topics: Sequence[str], aspect: str) -> Iterator[Scores]:
        both = (by_topic(sentences, topics, aspect), by_aspect(sentences, topics, aspect))
        return (topic_then_aspect(*cosines, sentences.owner) for cosines in zip(*both, strict=True))

    return scores


def topic_then_aspect(
    topic: Scores, aspect: Scores, owner: NDArray[np.int64], *, depth: int = ASPECT_PROFILE.depth
) -> Scores:
    """(sentences,): the document's best cosine with the topic, and what a k-NN query makes of the aspect's.

    Args:
        topic, aspect: (sentences,) cosines with the query's vector by the plain encoder, by the adapter.
        owner: (sentences,): each one's document.
        depth: so many sentences are found by the topic, and so the best `DOCUMENTS` of their documents.
    """
    best: dict[int, float] = {}
    for place in np.argsort(-topic, kind="stable")[:depth].tolist():
        best.setdefault(int(owner[place]), float(topic[place]))
    found = np.full(int(owner.max()) + 1, _ELSEWHERE)
    for document, score in islice(best.items(), DOCUMENTS):
        found[document] = score
    return np.asarray(found[owner] + (1.0 + aspect) / 2.0)
