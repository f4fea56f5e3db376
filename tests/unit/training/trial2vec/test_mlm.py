"""Masked words: what is masked, that it is learned, and that it goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

pytestmark = pytest.mark.train

TEXTS = [f"{organ} disease treatment of the {organ}" for organ in ("heart", "lung", "skin", "bone")] * 6


def _windows(tokenizer: Path, texts: Any = TEXTS, tokens: int = 16) -> Any:
    from trifuse.encoder.training.trial2vec.mlm import Windows

    return Windows(texts, tokenizer, tokens)


def test_a_long_text_fills_several_windows(tokenizer_file: Path) -> None:
    windows = _windows(tokenizer_file, ["heart " * 13, "lung", " "], tokens=8)
    assert len(windows) == 4  # six words and two special tokens each: 6 + 6 + 1, and one
    ids, mask, _ = windows.masked(np.arange(4), np.random.default_rng(0))
    assert ids.shape == (4, 8)
    assert mask.sum(1).tolist() == [8, 8, 3, 3]
    assert ids[:, 0].tolist() == [2, 2, 2, 2]  # [CLS] is never masked


def test_how_much_is_masked(tokenizer_file: Path) -> None:
    windows = _windows(tokenizer_file, ["heart lung skin bone"] * 2000)
    ids, mask, labels = windows.masked(np.arange(2000), np.random.default_rng(0))
    words = mask.bool() & (ids != 2) & (ids != 3)
    asked = labels != -100
    assert asked.sum() / 8000 == pytest.approx(0.15, abs=0.02)
    assert not asked[:, [0, 5]].any()  # [CLS], [SEP]
    assert (ids[asked] == 4).float().mean() == pytest.approx(0.8, abs=0.04)
    same = (ids[asked] == labels[asked]).float().mean()
    assert same == pytest.approx(0.1 + 0.1 / 22, abs=0.03)  # of 22 tokens one is the same by chance
    original = {int(token) for token in labels[asked]}
    assert original == {
        int(Tokenizer.from_file(str(tokenizer_file)).token_to_id(word))
        for word in ("heart", "lung", "skin", "bone")
    }
    assert words.any()


def test_what_cant_be_masked(tokenizer_file: Path, tmp_path: Path) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    with pytest.raises(TrainingInvalid, match="no text to learn words from"):
        _windows(tokenizer_file, ["", " "])
    without = tmp_path / "without.json"
    without.write_text(tokenizer_file.read_text().replace("[MASK]", "[MISK]"))
    with pytest.raises(TrainingInvalid, match=r"none of \[MASK\], <mask>"):
        _windows(without)


def test_words_are_learned_and_a_resumed_run_ends_where_an_uninterrupted_one_does(
    bert: Callable[..., Any], recipe: Callable[..., Any], tokenizer_file: Path, tmp_path: Path
) -> None:
    import torch
    from accelerate.utils import set_seed

    from trifuse.encoder.training.trial2vec.mlm import train_words

    chosen = recipe(mlm_epochs=10, mlm_batch=6, mlm_learning_rate=3e-3)
    windows = _windows(tokenizer_file)

    def run(backbone: Any, state: str, **options: Any) -> list[float]:
        set_seed(0)
        return train_words(backbone, windows, chosen, tmp_path / state, save_every=3, **options)

    whole = bert()
    before = whole.encoder.layer[0].output.dense.weight.detach().clone()
    expected = run(whole, "whole")
    assert len(expected) == 40
    assert sum(expected[-5:]) < 0.7 * sum(expected[:5])
    assert not whole.encoder.layer[0].output.dense.weight.equal(before)

    class Killed(Exception):
        pass

    def kill(step: int, of: int, loss: float) -> None:
        if step == 20:
            raise Killed

    with pytest.raises(Killed):
        run(bert(), "state", on_step=kill)
    resumed = bert(seed=9)
    torch.rand(3)
    assert run(resumed, "state", resume=True) == pytest.approx(expected, rel=1e-6)
    torch.testing.assert_close(dict(resumed.state_dict()), dict(whole.state_dict()), rtol=1e-5, atol=1e-6)
