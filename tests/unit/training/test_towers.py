"""Two towers from one transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trifuse.encoder.errors import TrainingInvalid

pytestmark = pytest.mark.train


def _tokens() -> dict[str, Any]:
    import torch

    ids = torch.tensor([[2, 12, 3], [2, 13, 3]])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def test_they_start_as_one_and_share_nothing(bert: Callable[..., Any]) -> None:
    from trifuse.encoder.training.towers import Towers

    towers = Towers(bert()).eval()
    queries, documents = towers(_tokens(), _tokens())
    assert queries.equal(documents)
    pairs = list(zip(towers.query.parameters(), towers.document.parameters(), strict=True))
    assert all(one.data_ptr() != other.data_ptr() for one, other in pairs)


def test_the_vector_is_the_first_tokens_as_it_comes(bert: Callable[..., Any]) -> None:
    from trifuse.encoder.training.towers import vectors_of

    model = bert().eval()
    expected = model(**_tokens()).last_hidden_state
    assert vectors_of(model, _tokens()).equal(expected[:, 0])


def test_a_start_scale_multiplies_the_vectors_of_both(bert: Callable[..., Any]) -> None:
    import torch

    from trifuse.encoder.training.towers import Towers, vectors_of

    plain = vectors_of(bert(), _tokens())
    towers = Towers(bert(), start_scale=0.5).eval()
    for found in towers(_tokens(), _tokens()):
        torch.testing.assert_close(found, plain * 0.5)


def test_a_recipe_that_the_model_has_no_layers_for(bert: Callable[..., Any]) -> None:
    from torch import nn

    from trifuse.encoder.training.towers import Towers

    with pytest.raises(TrainingInvalid, match="trained_layers=3: the model has 2 layers"):
        Towers(bert(), trained_layers=3)
    for options in ({"trained_layers": 1}, {"start_scale": 0.5}):
        with pytest.raises(TrainingInvalid, match="a Linear has no layers like BERT's"):
            Towers(nn.Linear(2, 2), **options)


def test_checkpointing_gives_the_same_gradients(bert: Callable[..., Any]) -> None:
    import torch

    from trifuse.encoder.training.towers import Towers

    gradients = []
    for thrifty in (False, True):
        towers = Towers(bert(), gradient_checkpointing=thrifty).train()
        torch.manual_seed(3)  # of dropout
        queries, documents = towers(_tokens(), _tokens())
        (queries @ documents.T).sum().backward()
        gradients.append(towers.query.encoder.layer[0].output.dense.weight.grad)
    torch.testing.assert_close(gradients[0], gradients[1])
