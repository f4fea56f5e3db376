"""Minibatches of documents that are asked for aspects, and the shares by which an epoch is judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.dev import DevScores, OfAspect, dev_of_aspects, shares
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe

pytestmark = pytest.mark.train

ASPECTS = ("population", "intervention")
RECIPE = Recipe(
    batch=3, trained_layers=1, instructions={"population": "the disease {text}", "intervention": "{text}"}
)


@pytest.fixture
def asked(organs: list[LabelledDocument], bert: Callable[..., Any], tokenizer_file: Path) -> AskedDocuments:
    texts = {each.text for document in organs for each in document.candidates}
    vectors = {text: np.full(4, len(text), dtype=np.float32) for text in texts}
    tower = QueryTower(bert(), "cls", RECIPE).eval()
    return AskedDocuments(organs, ASPECTS, vectors, tower, TextTokenizer(tokenizer_file, 16), RECIPE)


def test_a_minibatch_has_each_document_asked_for_each_aspect(asked: AskedDocuments) -> None:
    found = asked.queries([4, 0])
    # [CLS] the disease a trial of the brain [SEP] are nine tokens, without the wording seven.
    assert found.hidden.shape == (4, 9, 32)
    assert found.present.sum(1).tolist() == [9, 7, 9, 7]
    answers = asked.answers([4, 0])
    assert answers.candidates.shape == (2, 4, 4)
    assert answers.candidates[1, 1].tolist() == [17.0] * 4  # "the heart disease"
    assert answers.sentences.all()
    mixed = RECIPE.mixed_weight
    assert answers.weights.numpy() == pytest.approx(np.array([[0, 1, mixed, 0], [1, 0, mixed, 0]] * 2))


def test_an_epoch_has_each_document_once_and_is_the_same_for_the_same_seed(asked: AskedDocuments) -> None:
    epochs = [list(asked.epoch(number)) for number in (0, 0, 1)]
    assert sorted(place for batch in epochs[0] for place in batch) == list(range(8))
    assert sorted(map(len, epochs[0])) == [2, 3, 3]
    assert epochs[0] == epochs[1] != epochs[2]
    assert sorted(place for batch in asked.by_length() for place in batch) == list(range(8))


def test_shares_by_hand(labelled: Callable[..., LabelledDocument]) -> None:
    """The first document answers both requests alone; the second one mixed, and it has no pair to switch."""
    first, second = labelled("1", "P", "I", "PI"), labelled("2", "PI", "P", "")
    found = shares([(first, [0, 1]), (second, [0, 2])], ASPECTS)
    assert found == DevScores(top1=3 / 4, specific=2 / 4, switching=1.0)
    found = shares([(first, [0, 2])], ASPECTS)
    assert found == DevScores(top1=1.0, specific=1 / 2, switching=0.0)
    assert shares([(second, [1, 0])], ASPECTS).switching == 0.0


def test_documents_that_are_asked_for_other_aspects_have_minibatches_of_their_own(
    organs: list[LabelledDocument], bert: Callable[..., Any], tokenizer_file: Path
) -> None:
    """Two of eight are asked for one aspect of two: a minibatch of as many requests holds all of them."""
    documents = [
        each._replace(asked=("population",)) if at in (0, 5) else each for at, each in enumerate(organs)
    ]
    vectors = {
        each.text: np.ones(32, dtype=np.float32) for document in organs for each in document.candidates
    }
    tower = QueryTower(bert(), "cls", RECIPE).eval()
    asked = AskedDocuments(documents, ASPECTS, vectors, tower, TextTokenizer(tokenizer_file, 16), RECIPE)
    epoch = list(asked.epoch(0))
    assert asked.batches == len(epoch) == 3
    assert sorted(sorted(batch) for batch in epoch if {0, 5} & {*batch}) == [[0, 5]]
    assert sorted(map(len, epoch)) == sorted(map(len, asked.by_length())) == [2, 3, 3]
    assert asked.queries([0, 5]).present.sum(1).tolist() == [9, 9]
    assert asked.queries([6, 1]).present.sum(1).tolist() == [9, 7, 9, 7]
    assert asked.answers([0, 5]).weights.shape == (2, 4)
    found = dev_of_aspects(tower, asked)
    # All vectors are the same: the first sentence, on a treatment, is the answer of each.
    assert found == {"population": OfAspect(8, 0.0, 0.0), "intervention": OfAspect(6, 1.0, 1.0)}


def test_shares_are_of_what_each_document_is_asked_for(labelled: Callable[..., LabelledDocument]) -> None:
    first, second = labelled("1", "P", "I"), labelled("2", "PI", "P")._replace(asked=("population",))
    found = shares([(first, [0, 1]), (second, [0])], ASPECTS)
    assert found == DevScores(top1=1.0, specific=2 / 3, switching=1.0)
