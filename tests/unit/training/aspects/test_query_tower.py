"""The query encoder with updates: what it gives before and after, and what of it is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.aspects.model import MATRICES, QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe

pytestmark = pytest.mark.train

RECIPE = Recipe(rank=2, alpha=6.0, trained_layers=None, dropout=0.5)


def _tokens() -> dict[str, torch.Tensor]:
    ids = torch.tensor([[2, 12, 5, 3], [2, 13, 3, 0]])
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "token_type_ids": torch.zeros_like(ids)}


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("trained_layers", [None, 1])
def test_before_training_it_is_the_transformer(
    bert: Callable[..., Any], pooling: Any, trained_layers: int | None
) -> None:
    tokens = _tokens()
    with torch.no_grad():
        hidden = bert().eval()(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        expected = hidden[:, 0] if pooling == "cls" else (hidden * mask).sum(1) / mask.sum(1)
        tower = QueryTower(bert(), pooling, replace(RECIPE, trained_layers=trained_layers)).eval()
        found = tower(tokens)
        plain = QueryTower(bert(), pooling, RECIPE, normalized=False).eval()(tokens)
    assert plain == pytest.approx(expected, abs=1e-5)
    assert found == pytest.approx(expected / expected.norm(dim=1, keepdim=True), abs=1e-5)


def test_an_update_is_the_product_that_is_added_to_the_matrix(bert: Callable[..., Any]) -> None:
    tower = QueryTower(bert(), "cls", RECIPE).eval()
    torch.manual_seed(3)
    for weight in tower.trained().parameters():
        torch.nn.init.normal_(weight, std=0.1)
    merged = bert()
    updates = tower.updates()
    assert len(updates) == 2 * len(MATRICES)
    with torch.no_grad():
        for name, (down, up) in updates.items():
            assert (down.shape[1], up.shape[0]) == (2, 2)
            merged.get_submodule(name).weight += torch.from_numpy((down @ up).T)
        expected = merged.eval()(**_tokens()).last_hidden_state[:, 0]
        found = tower(_tokens())
    assert found == pytest.approx(expected / expected.norm(dim=1, keepdim=True), abs=1e-5)


def test_only_the_updates_of_upper_layers_are_trained(bert: Callable[..., Any]) -> None:
    tower = QueryTower(bert(), "cls", replace(RECIPE, trained_layers=1))
    trained = [name for name, weight in tower.named_parameters() if weight.requires_grad]
    assert trained
    assert all("layer.1." in name and "lora_" in name for name in trained)
    assert len(trained) == len(list(tower.trained().parameters())) == 2 * len(MATRICES)


def test_the_only_dropout_is_that_of_the_updates(bert: Callable[..., Any]) -> None:
    tower = QueryTower(bert(), "cls", RECIPE).train()
    assert not tower.transformer.embeddings.dropout.training
    before = tower(_tokens())
    assert torch.equal(tower(_tokens()), before)  # the updates are zero as yet
    for weight in tower.trained().parameters():
        torch.nn.init.normal_(weight)
    assert not torch.equal(tower(_tokens()), tower(_tokens()))
    tower.eval()
    assert torch.equal(tower(_tokens()), tower(_tokens()))


def test_a_model_that_is_no_bert_or_has_fewer_layers(bert: Callable[..., Any]) -> None:
    with pytest.raises(TrainingInvalid, match="a Linear can't be adapted: give a BERT"):
        QueryTower(torch.nn.Linear(1, 1), "cls", RECIPE)
    with pytest.raises(TrainingInvalid, match="trained_layers=3: the model has 2 layers"):
        QueryTower(bert(), "cls", replace(RECIPE, trained_layers=3))
    with pytest.raises(TrainingInvalid, match="rank=33: the model's matrices have a rank of 32 at most"):
        QueryTower(bert(), "cls", replace(RECIPE, rank=33))
