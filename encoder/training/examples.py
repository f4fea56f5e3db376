"""What is learned from: a query, a document that is relevant to it, and one that isn't."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trifuse.encoder.errors import TrainingInvalid

Known = Mapping[str, AbstractSet[str]]
"""A query's text to the ids of all documents that are known to be relevant to it."""


class Passage(NamedTuple):
    """A document: its id, by which it is recognised among a minibatch's candidates, and its text."""

    id: str
    text: str


class Example(NamedTuple):
    """A query and two documents."""

    query: str
    positive: Passage
    negative: Passage


def sampled_examples(
    queries: Mapping[str, str],
    relevant: Mapping[str, Mapping[str, float]],
    negatives: Mapping[str, Sequence[str]],
    text: Callable[[str], str],
    *,
    seed: int,
) -> Iterator[Example]:
    """Examples without end: every query once a round, in another order each round.

    A query that has a thousand relevant documents teaches as often as one that has two. Its positive is drawn
    by grade (a grade of 2 twice as often as one of 1), its negative evenly. The same seed gives the same
    examples.

    Args:
        queries: id to text.
        relevant: query id to document id to grade, above 0 each.
        negatives: query id to documents that aren't relevant to it.
        text: the text of a document, by its id.

    Raises:
        TrainingInvalid: no query has both a relevant document and a negative.
    """
    usable = sorted(query for query in queries if relevant.get(query) and negatives.get(query))
    if not usable:
        raise TrainingInvalid(
            f"none of {len(queries)} queries has a relevant document and a hard negative: check that "
            "queries, judgements and documents are named by the same ids"
        )
    return _rounds(usable, queries, relevant, negatives, text, random.Random(seed))  # noqa: S311


def _rounds(
    usable: Sequence[str],
    queries: Mapping[str, str],
    relevant: Mapping[str, Mapping[str, float]],
    negatives: Mapping[str, Sequence[str]],
    text: Callable[[str], str],
    chance: random.Random,
) -> Iterator[Example]:
    order = list(usable)
    while True:
        chance.shuffle(order)
        for query in order:
            grades = relevant[query]
            positive = chance.choices(list(grades), list(grades.values()))[0]
            negative = chance.choice(negatives[query])
            yield Example(
                queries[query], Passage(positive, text(positive)), Passage(negative, text(negative))
            )


def excluded_candidates(
    own: Sequence[Example], minibatch: Sequence[Example], candidates: Sequence[str], known: Known
) -> list[list[bool]]:
    """For each of a process's queries, which candidates are relevant to it: they must not be negatives.

    The paper's formula would count them as such: where queries share documents, as the queries of a log do,
    it would push a query away from what was clicked for it. A query's own positive is among them: the caller
    knows its place, and takes it out.

    Args:
        own: the examples whose queries are asked about.
        minibatch: all examples: what one of them says of a query holds for the others with the same query.
        candidates: ids of all documents of the minibatch.
        known: more of what is relevant.
    """
    said: dict[str, set[str]] = {}
    for example in minibatch:
        said.setdefault(example.query, set()).add(example.positive.id)
    nothing: AbstractSet[str] = frozenset()
    rows = ((said[example.query], known.get(example.query, nothing)) for example in own)
    return [[each in here or each in there for each in candidates] for here, there in rows]


def cut_into(examples: Iterable[Example], size: int) -> Iterator[list[Example]]:
    """Whole minibatches of so many examples; what is left at the end is dropped."""
    batch: list[Example] = []
    for example in examples:
        batch.append(example)
        if len(batch) == size:
            yield batch
            batch = []
