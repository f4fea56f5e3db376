"""The forward pass against a reference in plain NumPy, written from the paper; parts that are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.parts import Part

pytestmark = pytest.mark.train

Array = NDArray[np.float64]

PARTS = (
    Part(name="title", max_tokens=8),
    Part(name="intervention", max_tokens=8),
    Part(name="condition", max_tokens=8),
    Part(name="outcome", max_tokens=8),
    Part(name="context", max_tokens=16, context=True),
)
TRIAL = {
    "title": "aspirin treatment of the heart",
    "intervention": "aspirin",
    "condition": "heart disease",
    "outcome": "blood",
    "context": "the trial of a treatment of the heart of the liver of the kidney",
}
SUBSETS = list(chain.from_iterable(combinations(range(5), many) for many in range(1, 6)))
CONTEXT = 4


def attention(
    vectors: Array,
    present: Sequence[int],
    weights: dict[str, Array],
    *,
    heads: int,
    context_value: bool,
    sharpness: float,
) -> tuple[Array, Array]:
    """MultiHead(Q, K, V) = Concat(head₁, ..., head_h) W^O, head = softmax(q kᵀ / √d) V, trial by trial.

    Q is the context, K and V are the parts; all of unit norm off their centres. `vectors` (parts, width).
    """
    x = {part: _unit(_unit(vectors[part]) - weights["centres"][part]) for part in present}
    context = x.get(CONTEXT, np.zeros(vectors.shape[1]))
    seen = [part for part in present if context_value or part != CONTEXT] or list(present)
    values = {part: (weights["value"] + weights["own"][part]) @ x[part] for part in present}
    dim = len(weights["value"])
    size = dim // heads
    concatenated = []
    for head in range(heads):
        its = slice(head * size, (head + 1) * size)
        query = weights["query"][its] @ context + weights["bias"][its]
        scores = []
        for part in seen:
            key = weights["key"][its] @ x[part]
            scores.append(query @ key / np.sqrt(size) * sharpness + weights["prior"][head][part])
        shares = np.exp(scores) / np.exp(scores).sum()
        concatenated.append(sum(share * values[part][its] for share, part in zip(shares, seen, strict=True)))
    local = np.zeros((len(vectors), dim))
    for part in present:
        local[part] = _unit(weights["output"] @ values[part])
    return _unit(weights["output"] @ np.concatenate(concatenated)), local


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _weights(head: Any) -> dict[str, Array]:
    named = {
        "centres": head.centres,
        "own": head.own,
        "prior": head.prior,
        "query": head.query.weight,
        "bias": head.query.bias,
        "key": head.key.weight,
        "value": head.value.weight,
        "output": head.output.weight,
    }
    return {name: value.detach().double().numpy() for name, value in named.items()}


def _shaken(head: Any, *, also: Sequence[str] = ()) -> Any:
    """Random weights in place of those that training starts from."""
    import torch

    torch.manual_seed(5)
    with torch.no_grad():
        for weight in head.parameters():
            weight.copy_(0.4 * torch.randn_like(weight))
        for name in also:
            getattr(head, name).copy_(0.1 * torch.randn_like(getattr(head, name)))
    return head.eval()


def _batch() -> tuple[Any, Any]:
    """Every subset of parts: (31, 5, 32) vectors, rubbish where one is missing, and which are there."""
    import torch

    torch.manual_seed(6)
    present = torch.tensor([[part in subset for part in range(5)] for subset in SUBSETS])
    return torch.randn(len(SUBSETS), 5, 32), present


@pytest.mark.parametrize("dim", [None, 128])
@pytest.mark.parametrize("printed", [True, False])
def test_the_attention_is_equation_1(printed: bool, dim: int | None) -> None:
    from trifuse.encoder.training.trial2vec.attention import PAPER, Form, PartsAttention

    form = PAPER if printed else Form(heads=2)
    head = _shaken(PartsAttention(5, CONTEXT, 32, dim, form), also=["centres"])
    assert not printed or (head.prior.eq(0).all() and head.own.eq(0).all())
    vectors, present = _batch()
    global_, local = head(vectors, present)
    assert (global_.shape, local.shape) == ((31, dim or 32), (31, 5, dim or 32))
    for row, subset in enumerate(SUBSETS):
        expected = attention(
            vectors[row].double().numpy(),
            subset,
            _weights(head),
            heads=4 if printed else 2,
            context_value=not printed,
            sharpness=1.0 if printed else 10.0,
        )
        np.testing.assert_allclose(global_[row].detach(), expected[0], atol=1e-5, rtol=0)
        np.testing.assert_allclose(local[row].detach(), expected[1], atol=1e-5, rtol=0)


def test_a_part_alone_has_one_vector() -> None:
    """So that a query of one part lies where whole trials lie."""
    from trifuse.encoder.training.trial2vec.attention import PAPER, PartsAttention

    vectors, present = _batch()
    for form in (None, PAPER):
        global_, local = _shaken(PartsAttention(5, CONTEXT, 32, form=form))(vectors, present)
        for part in range(5):
            np.testing.assert_allclose(global_[part].detach(), local[part, part].detach(), atol=1e-6)


def test_a_prior_decides_before_anything_is_learned() -> None:
    """Weights 3 and 1: the sum of three times one unit vector and one at a right angle is (3, 1) / √10."""
    import torch

    from trifuse.encoder.training.trial2vec.attention import Form, PartsAttention

    head = PartsAttention(2, None, 4, form=Form(heads=1))
    head.start(prior=torch.tensor([3.0, 1.0]))
    vectors = torch.tensor([[[2.0, 0, 0, 0], [0, 5.0, 0, 0]]])
    global_, _ = head(vectors, torch.ones(1, 2, dtype=torch.bool))
    np.testing.assert_allclose(global_[0].detach(), [3 / 10**0.5, 1 / 10**0.5, 0, 0], atol=1e-6)


def test_it_starts_where_it_is_told_to() -> None:
    import torch

    from trifuse.encoder.training.trial2vec.attention import Form, PartsAttention

    head = PartsAttention(1, None, 2, form=Form(heads=1))
    head.start(centres=torch.tensor([[0.6, 0.0]]), values=torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    # (0.6, 0.8) off (0.6, 0) is (0, 0.8): of unit norm (0, 1), and turned (1, 0)
    global_, _ = head(torch.tensor([[[3.0, 4.0]]]), torch.ones(1, 1, dtype=torch.bool))
    np.testing.assert_allclose(global_[0].detach(), [1, 0], atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_parts_in_one_row_are_encoded_as_if_alone(
    pooling: Any, bert: Callable[..., Any], tokenizer_file: Path
) -> None:
    """The reference runs the backbone on each part by itself, and pools in NumPy."""
    import torch

    from trifuse.encoder.training.trial2vec.model import Trial2Vec
    from trifuse.encoder.training.trial2vec.packing import Packer

    model = Trial2Vec(bert(), PARTS, pooling=pooling).eval()
    _shaken(model.head)
    packer = Packer(tokenizer_file, PARTS)
    names = [part.name for part in PARTS]
    trials = [{names[part]: TRIAL[names[part]] for part in subset} for subset in SUBSETS]
    with torch.no_grad():
        global_, local = model(*packer.tensors(trials))
        vectors = np.zeros((5, 32))
        for part, name in enumerate(names):
            alone = packer.tensors([{name: TRIAL[name]}])
            hidden = model.backbone(input_ids=alone.input_ids).last_hidden_state[0].double().numpy()
            vectors[part] = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    weights = _weights(model.head)
    for row, subset in enumerate(SUBSETS):
        expected = attention(vectors, subset, weights, heads=4, context_value=True, sharpness=10.0)
        np.testing.assert_allclose(global_[row], expected[0], atol=1e-5, rtol=0)
        np.testing.assert_allclose(local[row], expected[1], atol=1e-5, rtol=0)
    np.testing.assert_allclose(np.linalg.norm(global_, axis=1), 1, atol=1e-6)


def test_either_attention_of_the_backbone_gives_the_same(
    bert: Callable[..., Any], tokenizer_file: Path
) -> None:
    import torch

    from trifuse.encoder.training.trial2vec.model import Trial2Vec
    from trifuse.encoder.training.trial2vec.packing import Packer

    model = Trial2Vec(bert(), PARTS).eval()
    tokens = Packer(tokenizer_file, PARTS).tensors([TRIAL, {"condition": "heart"}])
    found = []
    for name in ("sdpa", "eager"):
        model.backbone.set_attn_implementation(name)
        found.append(model(*tokens)[0].detach())
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=0)


def test_the_order_of_trials_decides_nothing(bert: Callable[..., Any], tokenizer_file: Path) -> None:
    import torch

    from trifuse.encoder.training.trial2vec.model import Trial2Vec
    from trifuse.encoder.training.trial2vec.packing import Packer

    model = Trial2Vec(bert(), PARTS).eval()
    tokens = Packer(tokenizer_file, PARTS).tensors([TRIAL, {"condition": "lung"}, {"context": "the skin"}])
    order = torch.tensor([2, 0, 1])
    global_, local = model(*tokens)
    turned = model(*(column[order] for column in tokens))
    torch.testing.assert_close(turned[0], global_[order], atol=1e-6, rtol=0)
    torch.testing.assert_close(turned[1], local[order], atol=1e-6, rtol=0)


@pytest.mark.parametrize("dim", [None, 128])
@pytest.mark.parametrize("printed", [True, False])
def test_no_subset_of_parts_gives_a_gradient_that_is_no_number(
    printed: bool, dim: int | None, bert: Callable[..., Any], tokenizer_file: Path
) -> None:
    """In training, with dropout; among them a trial without any part, whose vector is zero."""
    from trifuse.encoder.training.trial2vec.attention import PAPER
    from trifuse.encoder.training.trial2vec.losses import info_nce
    from trifuse.encoder.training.trial2vec.model import Trial2Vec
    from trifuse.encoder.training.trial2vec.packing import Packer

    model = Trial2Vec(bert(), PARTS, dim, form=PAPER if printed else None).train()
    names = [part.name for part in PARTS]
    trials = [{names[part]: TRIAL[names[part]] for part in subset} for subset in SUBSETS]
    global_, local = model(*Packer(tokenizer_file, PARTS).tensors([*trials, {}]))
    assert global_.isfinite().all() and local.isfinite().all()
    assert global_[-1].eq(0).all() and local[-1].eq(0).all()
    loss = info_nce(global_, global_.flip(0), negatives=local[:, 2], others=local[:, 0])
    loss.backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    assert all(each is not None and each.isfinite().all() for each in gradients.values())
    assert gradients["backbone.embeddings.word_embeddings.weight"].abs().max() > 0


def test_tokens_of_trials_stand_in_one_row(tokenizer_file: Path) -> None:
    """[CLS] 2, [SEP] 3, [PAD] 0; heart 12, lung 13, disease 5, of 7: by the order of the vocabulary."""
    from trifuse.encoder.training.trial2vec.packing import Packer

    packer = Packer(tokenizer_file, (Part(name="title", max_tokens=4), Part(name="condition", max_tokens=8)))
    found = packer.tensors(
        [{"condition": " heart\n disease", "title": "lung of heart"}, {"condition": "lung", "title": " "}]
    )
    assert [column.tolist() for column in found] == [
        [[2, 13, 7, 3, 2, 12, 5, 3], [2, 13, 3, 0, 0, 0, 0, 0]],
        [[0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 2, 0, 0, 0, 0, 0]],
        [[1, 1, 1, 1, 2, 2, 2, 2], [2, 2, 2, 0, 0, 0, 0, 0]],
    ]


def test_what_the_model_cant_have(bert: Callable[..., Any]) -> None:
    from trifuse.encoder.training.trial2vec.attention import Form
    from trifuse.encoder.training.trial2vec.model import Trial2Vec

    for dim in (128, 256, 512, 768, 32, None):
        assert Trial2Vec(bert(), PARTS, dim).head.dim == (dim or 32)
    for dim in (100, 384, 1):
        with pytest.raises(TrainingInvalid, match=rf"dim={dim}: expected one of 128, 256, 512, 768, or the"):
            Trial2Vec(bert(), PARTS, dim)
    with pytest.raises(TrainingInvalid, match=r"heads=3: expected a divisor of dim=32"):
        Trial2Vec(bert(), PARTS, form=Form(heads=3))
    for parts in ((), PARTS[4:], (*PARTS, Part(name="more", max_tokens=8, context=True))):
        with pytest.raises(TrainingInvalid, match="a key attribute at least, and one context at most"):
            Trial2Vec(bert(), parts)
    with pytest.raises(TrainingInvalid, match="part 'title' has max_tokens 65, the backbone 64"):
        Trial2Vec(bert(), (Part(name="title", max_tokens=65),))


def test_a_backbone_without_positions_of_its_own() -> None:
    """A T5 knows distances alone."""
    from transformers import T5Config, T5EncoderModel

    from trifuse.encoder.errors import CheckpointInvalid
    from trifuse.encoder.training.trial2vec import PARTS, Trial2Vec

    tiny = T5Config(vocab_size=20, d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2)
    with pytest.raises(CheckpointInvalid, match="a T5EncoderModel has no positions"):
        Trial2Vec(T5EncoderModel(tiny), PARTS)
