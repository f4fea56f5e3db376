"""What benchmarks/trial2vec.py trains itself: heads with one thing changed, and SimCSE."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.training.checkpoints import Checkpoint

ROOT = Path(__file__).parents[4]
ORGANS = ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood")
SHORT = {"steps": 3, "warmup_steps": 1, "batch": 4, "dev_every": 1}


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module


@pytest.fixture
def checkpoint(bert: Callable[..., Any], tokenizer_file: Path) -> Callable[[str], Any]:
    """`open_checkpoint` of a tiny BERT, whatever is asked for."""

    @contextmanager
    def opened(name: str) -> Iterator[Checkpoint]:
        yield Checkpoint(bert(max_position_embeddings=128), tokenizer_file, "[SEP]", 128)

    return opened


def trial(number: int) -> dict[str, Any]:
    organ = ORGANS[number % len(ORGANS)]
    return {
        "nct_id": f"NCT{number:08}",
        "brief_title": f"a trial of aspirin {organ}",
        "conditions": [f"{organ} disease"],
        "keywords": [organ, "treatment"],
    }


def test_heads_with_one_thing_changed(
    benchmark_module: Callable[[str], Any],
    checkpoint: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Every seed's head scores the same queries; the vectors of parts are those of one cache."""
    heads, data = benchmark_module("trial2vec_heads"), benchmark_module("trial2vec_data")
    methods, protocol = benchmark_module("trial2vec_methods"), benchmark_module("trial2vec_protocol")
    monkeypatch.setattr(heads, "open_checkpoint", checkpoint)
    trials = [trial(number) for number in range(60)]
    corpus = tmp_path / "trials.jsonl"
    corpus.write_text("".join(json.dumps(each) + "\n" for each in trials))
    told = data.told([corpus])
    query = protocol.Judged("NCT00000030", ("NCT00000051", "NCT00000002"), (True, False))
    asked = methods.Asked(told, [query], 1)
    variants = {
        name: replace(variant, changes={**variant.changes, **(SHORT if variant.trained else {"batch": 4})})
        for name, variant in heads.ABLATIONS.items()
    }
    found = heads.Heads(corpus, tmp_path / "kept").scores(asked, variants, [0, 1])
    assert list(found) == [f"{name}{ending}" for name in variants for ending in ("", ", no condition")]
    assert {name: len(runs) for name, runs in found.items() if "untrained" in name} == {
        "untrained": 1,
        "untrained, no condition": 1,
    }
    assert all(len(runs) == 2 for name, runs in found.items() if "untrained" not in name)
    for runs in found.values():
        for (scores,) in runs:
            assert scores.shape == (2,)
            assert np.all(np.abs(scores) <= 1 + 1e-6)
    first, second = (np.concatenate(run) for run in found["trial2vec"])
    assert not np.allclose(first, second)  # another seed
    assert len(list((tmp_path / "kept").iterdir())) == 1  # one backbone


def test_simcse_moves_the_upper_layers_alone(
    benchmark_module: Callable[[str], Any],
    checkpoint: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, a text has the vector of the whole backbone; after it, the layers below are as they were."""
    import torch
    from tokenizers import Tokenizer

    simcse = benchmark_module("trial2vec_simcse")
    monkeypatch.setattr(simcse, "open_checkpoint", checkpoint)
    monkeypatch.setattr(simcse, "LAYERS", 1)
    model = simcse.SimCse("tiny", tokens=16)
    texts = ["heart disease", "treatment of the lung a trial of aspirin", "skin"]
    before = model.encode(texts)
    with checkpoint("tiny") as start:
        ids = torch.tensor([Tokenizer.from_file(str(start.tokenizer)).encode(texts[0]).ids])
        whole = start.transformer.eval()(input_ids=ids).last_hidden_state[0, 0].detach().numpy()
    assert before[0] == pytest.approx(whole / np.linalg.norm(whole), abs=1e-5)
    assert model.encode(texts[:1])[0] == pytest.approx(before[0], abs=1e-5)  # alone as in a batch
    weights = {name: value.clone() for name, value in model._model.state_dict().items()}
    losses = model.train([f"{organ} disease" for organ in ORGANS], seed=0)
    assert len(losses) == simcse.STEPS
    moved = {
        name.split(".")[2] if name.startswith("encoder") else "embeddings"
        for name, value in model._model.state_dict().items()
        if not torch.equal(value, weights[name])
    }
    assert moved == {"1"}
    assert not np.allclose(model.encode(texts), before)
