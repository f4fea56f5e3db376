"""Ways to ask documents for an aspect, and the sentence that each document then puts first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from trifuse.encoder.aspects import aspect_query
from trifuse.encoder.types import Encoder, Vectors
from trifuse.ranker.evaluation.aspects import AskedDocument, first_of

Ask = Callable[[Sequence[str], str], Vectors]
"""Topics and an aspect to (topics, dim) vectors of queries."""

_AT_ONCE = 512


def generic(encoder: Encoder) -> Ask:
    """Ask by the topic alone: the aspect changes nothing."""
    return lambda topics, aspect: encoder.encode_queries(topics)


def instructed(encoder: Encoder, instructions: Mapping[str, str]) -> Ask:
    """Ask an untrained encoder by the topic and the aspect's wording."""
    return lambda topics, aspect: encoder.encode_queries(
        [aspect_query(topic, aspect, instructions) for topic in topics]
    )


def sentence_vectors(
    encoder: Encoder,
    documents: Sequence[Sequence[str]],
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Vectors], int]:
    """The vectors of each document's sentences, and how many sentences the encoder can't encode.

    Those have NaN in the place of a vector: they are never found.

    Args:
        documents: the texts of their sentences.
        progress: is told how many sentences are done.
    """
    texts = [text for sentences in documents for text in sentences]
    vectors = np.full((len(texts), encoder.space.dimension), np.nan, dtype=np.float32)
    rejected = 0
    for start in range(0, len(texts), _AT_ONCE):
        part = encoder.encode(texts[start : start + _AT_ONCE], role="document")
        vectors[start : start + _AT_ONCE] = part.vectors
        for position in part.rejected:
            vectors[start + position] = np.nan
        rejected += len(part.rejected)
        progress(min(start + _AT_ONCE, len(texts)))
    ends = np.cumsum([len(sentences) for sentences in documents])
    return np.split(vectors, ends[:-1]), rejected


def asked_documents(
    ask: Ask,
    topics: Sequence[str],
    labels: Sequence[Sequence[AbstractSet[str]]],
    vectors: Sequence[Vectors],
    aspects: Sequence[str],
) -> list[AskedDocument]:
    """Ask each document for each aspect, and note which of its sentences comes first.

    Args:
        topics: one a document.
        labels: the aspects of each document's sentences.
        vectors: of each document's sentences (`sentence_vectors`).
        aspects: to ask for.
    """
    first: list[dict[str, int]] = [{} for _ in topics]
    asked = [at for at, sentences in enumerate(vectors) if len(sentences)]
    for aspect in aspects if asked else ():
        queries = ask([topics[at] for at in asked], aspect)
        for query, at in zip(queries, asked, strict=True):
            scores = np.nan_to_num(vectors[at] @ query, nan=-np.inf)
            first[at][aspect] = first_of(scores.tolist())
    return [AskedDocument(*each) for each in zip(labels, first, strict=True)]
