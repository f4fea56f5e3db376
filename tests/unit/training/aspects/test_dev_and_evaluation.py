"""The shares that choose an epoch are those of `trifuse aspect evaluate`, on the same rankings."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.dev import dev_scores, shares
from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledSentence
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.ranker.evaluation.aspects import AskedDocument, AspectScores, evaluate_aspects, first_of

pytestmark = pytest.mark.train

PIO = ("population", "intervention", "outcome")
ORGANS = ("heart", "lung", "liver", "kidney")

Labels = list[frozenset[str]]
LABELS = st.lists(st.frozensets(st.sampled_from(PIO)), min_size=1, max_size=6)
"""Of a document's candidates; of none, of one, of several, and often no sentence of an aspect."""


def _document(labels: Labels, texts: list[str] | None = None, title: str = "a trial") -> LabelledDocument:
    texts = texts or [f"sentence {place}" for place in range(len(labels))]
    sentences = [LabelledSentence(title, 0, len(title), frozenset())]
    for text, aspects in zip(texts, labels, strict=True):
        sentences.append(LabelledSentence(text, 0, len(text), aspects))
    return LabelledDocument("1", "", tuple(sentences))


def _percents(scores: AspectScores) -> list[float]:
    """Where there is no eligible pair an epoch counts 0."""
    return [each.percent or 0.0 for each in (scores.top1, scores.specific, scores.switching)]


def _by_evaluation(
    documents: list[Labels], firsts: list[list[int]], aspects: tuple[str, ...] = PIO
) -> AspectScores:
    """What a sentence has of the others counts where some alone are asked for."""
    asked = [
        AskedDocument(labels, dict(zip(PIO, first, strict=True)))
        for labels, first in zip(documents, firsts, strict=True)
    ]
    return evaluate_aspects(asked, aspects, beside=PIO, resamples=2).scores


@given(st.lists(LABELS, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_same_firsts_give_the_same_shares(documents: list[Labels], chance: random.Random) -> None:
    firsts = [[chance.randrange(len(labels)) for _ in PIO] for labels in documents]
    labelled = [_document(labels) for labels in documents]
    found = shares(list(zip(labelled, firsts, strict=True)), PIO)
    assert [100 * share for share in found] == pytest.approx(_percents(_by_evaluation(documents, firsts)))
    for place, aspect in enumerate(PIO):  # by updates for each aspect alone, which have no pair
        one = [(document, [first[place]]) for document, first in zip(labelled, firsts, strict=True)]
        alone = _percents(_by_evaluation(documents, firsts, (aspect,)))
        assert [100 * share for share in shares(one, (aspect,))] == pytest.approx(alone)


class _WordsTower(torch.nn.Module):
    """A query's vector is the mean of its words', drawn by lot: in the place of a tower that has learned."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(64, 3)

    def lower(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.words(tokens["input_ids"]).detach()

    def upper(self, hidden: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        return (hidden * present[..., None]).sum(1) / present.sum(1, keepdim=True)


def test_the_same_scores_give_the_same_shares_and_equal_ones_the_first_in_reading_order(
    tokenizer_file: Path,
) -> None:
    """A text stands for an axis, so that a score is a number of the query's vector: the same text, a tie."""
    chance = random.Random(0)
    torch.manual_seed(10)
    tower: Any = _WordsTower()
    texts = ["disease", "treatment", "aspirin"]
    vectors = {text: np.eye(3, dtype=np.float32)[place] for place, text in enumerate(texts)}
    documents, labels = [], []
    for number in range(60):
        size = chance.randrange(1, 8)
        said = chance.choices(texts, k=size)
        labels.append([frozenset(chance.sample(PIO, chance.choice([0, 1, 1, 2]))) for _ in range(size)])
        documents.append(_document(labels[-1], said, ORGANS[number % 4]))
    recipe = Recipe(
        batch=7, instructions={aspect: f"{{text}} {word}" for aspect, word in zip(PIO, texts, strict=True)}
    )
    asked = AskedDocuments(documents, PIO, vectors, tower, TextTokenizer(tokenizer_file, 16), recipe)

    firsts, ties = [], 0
    for place, document in enumerate(documents):
        queries = tower.upper(*asked.queries([place])).numpy()
        scores = [[float(query @ vectors[each.text]) for each in document.candidates] for query in queries]
        ties += sum(some.count(max(some)) > 1 for some in scores)
        firsts.append([first_of(some) for some in scores])
    assert ties > 40  # of 180

    overall = _percents(_by_evaluation(labels, firsts))
    assert all(0 < share < 100 for share in overall)
    assert [100 * share for share in dev_scores(tower, asked)] == pytest.approx(overall)
