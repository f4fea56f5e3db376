"""Two processes that share a minibatch do what one does with all of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train

SCRIPT = """
import json, random, sys
from pathlib import Path
import torch
from transformers import BertModel
from trifuse.encoder.training import Example, Passage, Recipe
from trifuse.encoder.training.towers import Towers
from trifuse.encoder.training.trainer import accelerator_here, train_towers

torch.set_num_threads(1)
folder, organs = Path(sys.argv[1]), ["heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood"]

def examples():
    chance = random.Random(1)
    while True:
        asked, other = chance.sample(organs, 2)
        yield Example(asked, *(Passage(organ, f"{organ} disease") for organ in (asked, other)))

accelerator = accelerator_here()
towers = Towers(BertModel.from_pretrained(folder / "checkpoint", add_pooling_layer=False))
recipe = Recipe(steps=4, warmup_steps=1, batch=8, learning_rate=3e-3, query_tokens=8, document_tokens=8)
history = train_towers(
    towers, examples(), recipe, folder / "words.json", folder / sys.argv[2], separator="[SEP]",
    save_every=2, accelerator=accelerator,
)
if accelerator.is_main_process:
    weight = towers.document.encoder.layer[0].output.dense.weight
    found = {"processes": accelerator.num_processes, "loss": history.loss, "accuracy": history.accuracy}
    print(json.dumps(found | {"weight": weight.tolist()}))
accelerator.end_training()
"""


def test_two_processes_learn_what_one_learns(
    bert: Callable[..., Any], tokenizer_file: Path, run_in_processes: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copyfile(tokenizer_file, tmp_path / "words.json")
    bert(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).save_pretrained(tmp_path / "checkpoint")
    one, two = (run_in_processes(SCRIPT, number) for number in (1, 2))
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert two["accuracy"] == pytest.approx(one["accuracy"])
    for row, expected in zip(two["weight"], one["weight"], strict=True):
        assert row == pytest.approx(expected, abs=1e-4)
    assert two["loss"][-1] < two["loss"][0]
