"""Vectors that are made once: the backbone's own, found again by model and text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train


@pytest.fixture
def kept(bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path) -> Callable[..., Any]:
    """`kept(seed)`: a backbone's kept vectors, all in one folder, and its model and packer."""

    def make(seed: int = 0) -> Any:
        from trifuse.encoder.training.trial2vec import PARTS, Recipe, Trial2Vec
        from trifuse.encoder.training.trial2vec.cache import KeptVectors
        from trifuse.encoder.training.trial2vec.learn import cut_parts
        from trifuse.encoder.training.trial2vec.packing import Packer

        model = Trial2Vec(bert(seed), cut_parts(PARTS, Recipe(key_tokens=8, context_tokens=16)))
        packer = Packer(tokenizer_file, model.parts)
        return KeptVectors(model, packer, tokenizer_file, tmp_path / "kept"), model, packer

    return make


def test_they_are_the_backbones(kept: Callable[..., Any], trials: Any) -> None:
    import torch

    vectors, model, packer = kept()
    items = [dict(trial.parts) for trial in trials]
    items[4]["context"] = "treatment of the lung " * 50  # is cut
    vectors.keep(items)
    found, there = vectors.tensors([*items, {}])
    with torch.no_grad():
        expected, has = model.eval().pooled(*packer.tensors([*items, {}]))
    assert there.equal(has)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not there[-1].any()
    assert there[0].tolist() == [True, False, False, False, False]


def test_a_text_is_encoded_once(kept: Callable[..., Any], trials: Any, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    items = [dict(trial.parts) for trial in trials]
    distinct = len({text for item in items for name, text in item.items() if name != "context"})
    distinct += len({item["context"] for item in items if "context" in item})
    kept()[0].keep(items, lambda done, of: seen.append((done, of)))
    assert seen == [(0, distinct), (distinct, distinct)]
    again, *_ = kept()
    seen.clear()
    again.keep(
        [*items, {"title": "aspirin", "unknown": "lung", "outcome": ""}], lambda *said: seen.append(said)
    )
    assert seen == [(distinct, distinct + 1), (distinct + 1, distinct + 1)]
    other, *_ = kept(seed=1)
    seen.clear()
    other.keep(items, lambda *said: seen.append(said))
    assert seen[0] == (0, distinct)
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_a_damaged_file_is_made_again(kept: Callable[..., Any], trials: Any, tmp_path: Path) -> None:
    items = [dict(trial.parts) for trial in trials]
    first, *_ = kept()
    first.keep(items)
    (path,) = (tmp_path / "kept").glob("*/*.npz")
    path.write_bytes(path.read_bytes()[:100])
    (path.parent / "ended.new").write_bytes(b"half")
    again, *_ = kept()
    again.keep(items)
    assert all(a.equal(b) for a, b in zip(first.tensors(items), again.tensors(items), strict=True))
