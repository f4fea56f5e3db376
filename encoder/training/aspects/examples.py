"""What an aspect is learned from: a request, a sentence that answers it, and two that don't."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledSentence

PAPER = {"train": 4187, "dev": 474, "test": 186, "examples": 18921}
"""Documents and training examples of the study that aspect-controlled retrieval follows (EBM-NLP 2.0)."""


class AspectExample(NamedTuple):
    """A request: the document's title, and an aspect.

    Args:
        positive: a candidate of the document that has the aspect.
        negatives: two other candidates that lack it; the first has another aspect.
    """

    document: LabelledDocument
    aspect: str
    positive: LabelledSentence
    negatives: tuple[LabelledSentence, LabelledSentence]


@dataclass(frozen=True)
class Sizes:
    """How much there is to learn from, or to judge by.

    Args:
        sentences: candidates.
        having, alone: aspect to the candidates that have it, and to those that have no other.
        requests: pairs of a document and an aspect; each has up to `per_aspect` examples.
        without_example: requests that no candidate fulfils, or that lack two others to tell it from.
    """

    documents: int
    sentences: int
    having: Mapping[str, int]
    alone: Mapping[str, int]
    requests: int
    without_example: int
    examples: int


def aspect_examples(
    documents: Sequence[LabelledDocument], aspects: Sequence[str], *, seed: int, per_aspect: int = 2
) -> Iterator[AspectExample]:
    """Each document's examples once, in an order and with draws that the seed decides.

    A request's positives are candidates that have the aspect alone, then those that have others too. It has
    no example where no candidate has the aspect, or none has another one instead, or only one lacks it.

    Args:
        per_aspect: examples of a request at most, each with another positive.
    """
    chance = random.Random(seed)  # noqa: S311
    requests = [(document, aspect) for document in documents for aspect in document.asks(aspects)]
    chance.shuffle(requests)
    for document, aspect in requests:
        yield from _of_request(document, aspect, chance, per_aspect)


def sizes_of(documents: Sequence[LabelledDocument], aspects: Sequence[str], *, per_aspect: int = 2) -> Sizes:
    """How many documents, sentences and examples there are."""
    having, alone = Counter[str](), Counter[str]()
    for document in documents:
        for each in document.candidates:
            having.update(document.asks([*each.aspects]))
            alone.update(document.asks([*each.aspects]) if len(each.aspects) == 1 else ())
    examples = list(aspect_examples(documents, aspects, seed=0, per_aspect=per_aspect))
    fulfilled = {(example.document.id, example.aspect) for example in examples}
    requests = sum(len(document.asks(aspects)) for document in documents)
    return Sizes(
        documents=len(documents),
        sentences=sum(len(document.candidates) for document in documents),
        having={aspect: having[aspect] for aspect in aspects},
        alone={aspect: alone[aspect] for aspect in aspects},
        requests=requests,
        without_example=requests - len(fulfilled),
        examples=len(examples),
    )


def _of_request(
    document: LabelledDocument, aspect: str, chance: random.Random, most: int
) -> Iterator[AspectExample]:
    having = [each for each in document.candidates if aspect in each.aspects]
    lacking = [each for each in document.candidates if aspect not in each.aspects]
    wrong = [each for each in lacking if each.aspects]
    if not wrong or len(lacking) < 2:
        return
    chance.shuffle(having)
    having.sort(key=lambda each: len(each.aspects) > 1)
    for positive in having[:most]:
        first = chance.choice(wrong)
        second = chance.choice([each for each in lacking if each is not first])
        yield AspectExample(document, aspect, positive, (first, second))
