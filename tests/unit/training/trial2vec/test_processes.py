"""Two processes that share a minibatch do what one does with all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train

SCRIPT = """
import json, sys
from dataclasses import replace
from pathlib import Path
import torch
from transformers import BertModel
from trifuse.encoder.training.trial2vec import PARTS, SMALL, Trial2Vec, TrialParts
from trifuse.encoder.training.trial2vec.dev import DevScore
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.learn import cut_parts
from trifuse.encoder.training.trial2vec.packing import Packer
from trifuse.encoder.training.trial2vec.run import accelerator_for
from trifuse.encoder.training.trial2vec.trainer import train_contrast

torch.set_num_threads(1)
folder, organs = Path(sys.argv[1]), ["heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood"]
trials = [
    TrialParts(
        organ,
        {"title": f"{what} of {organ}", "condition": f"{organ} disease", "context": f"{organ} trial"},
        (organ,)
    )
    for organ in organs for what in ("aspirin", "treatment")
]
torch.manual_seed(0)
recipe = replace(
    SMALL, steps=4, warmup_steps=1, batch=8, dev_every=2, key_tokens=8, context_tokens=8, trained_layers=None
)
parts = cut_parts(PARTS, recipe)
model = Trial2Vec(BertModel.from_pretrained(folder / "checkpoint", add_pooling_layer=False), parts)
packer = Packer(Path(sys.argv[3]), parts)
accelerator = accelerator_for(recipe.batch)
history = train_contrast(
    model, Draws(trials, parts, recipe, None), packer.tensors, recipe, folder / sys.argv[2], accelerator,
    dev=DevScore(model, trials, packer.tensors), save_every=2,
)
if accelerator.is_main_process:
    found = {"processes": accelerator.num_processes, "loss": history.loss, "dev": history.dev}
    print(json.dumps(found | {"weight": model.head.value.weight.tolist()}))
accelerator.end_training()
"""


def test_two_processes_learn_what_one_learns(
    bert: Callable[..., Any], tokenizer_file: Path, run_in_processes: Callable[..., Any], tmp_path: Path
) -> None:
    bert(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).save_pretrained(tmp_path / "checkpoint")
    one, two = (run_in_processes(SCRIPT, number, tokenizer_file) for number in (1, 2))
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert [step for step, _ in two["dev"]] == [0, 2, 4]
    assert [score for _, score in two["dev"]] == pytest.approx([score for _, score in one["dev"]], rel=1e-3)
    for row, expected in zip(two["weight"], one["weight"], strict=True):
        assert row == pytest.approx(expected, abs=1e-4)
