"""Each aspect's own vector, and how queries are drawn to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.anchors import aspect_vectors
from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.train import train_aspects

pytestmark = pytest.mark.train

ASPECTS = ("population", "intervention")
RECIPE = Recipe(
    epochs=1,
    batch=1,
    trained_layers=1,
    instructions={"population": "disease {text}", "intervention": "{text}"},
)


def test_each_aspect_gets_the_direction_of_sentences_that_have_it_alone(
    organs: list[LabelledDocument], bert: Callable[..., Any], tokenizer_file: Path
) -> None:
    near = np.eye(4, dtype=np.float32) + 2  # a treatment, a disease, both, and neither: all much alike
    of_places = near / np.linalg.norm(near, axis=1, keepdims=True)
    vectors = {
        each.text: of_places[place] for document in organs for place, each in enumerate(document.candidates)
    }
    tower = QueryTower(bert(), "cls", RECIPE).eval()
    asked = AskedDocuments(organs * 4, ASPECTS, vectors, tower, TextTokenizer(tokenizer_file, 16), RECIPE)
    found = aspect_vectors(asked, RECIPE)
    assert found.shape == (2, 4)
    assert found.norm(dim=1).numpy() == pytest.approx(np.ones(2))
    assert (of_places @ found.numpy().T).argmax(0).tolist() == [1, 0]
    assert torch.equal(aspect_vectors(asked, RECIPE), found)
    assert not torch.equal(aspect_vectors(asked, replace(RECIPE, seed=1)), found)


def test_the_pull_adds_so_many_times_the_distance(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    first = []
    for pull in (0.0, 1.0, 3.0):
        report = train_aspects(
            str(base), organs, replace(RECIPE, pull=pull), tmp_path / f"pull-{pull}", name="organs"
        )
        first.append(report.trained[0].loss[0])
    distance = first[1] - first[0]  # of queries that nothing has moved yet
    assert 0 < distance < 2
    assert first[2] - first[0] == pytest.approx(3 * distance, rel=1e-4)
