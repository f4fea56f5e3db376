"""Models of a few kB, in which every number can be worked out by hand."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"

# The special tokens have rows of zeros: a mean is over [CLS], the words and [SEP].
WORDS = {"a": (4.0, 0.0), "b": (0.0, 8.0), "c": (12.0, 4.0), "nan": (float("nan"), 0.0), "zero": (0.0, 0.0)}


@pytest.fixture(scope="session")
def make_model() -> Callable[..., Path]:
    """`make_model(folder, words, *, inputs, attention, **description)`: see benchmarks/tiny_model.py."""
    builder: Callable[..., Path] = runpy.run_path(str(BUILDER))["make_model"]
    return builder


@pytest.fixture
def tiny(tmp_path: Path, make_model: Callable[..., Path]) -> Callable[..., OnnxEncoder]:
    """`tiny(**options)`: an encoder on a fresh tiny model; options of `make_model`, and `token_budget`."""

    def build(words: Any = WORDS, *, token_budget: int | None = None, **options: Any) -> OnnxEncoder:
        folder = make_model(tmp_path / "tiny", words, **options)
        return OnnxEncoder(read_model(folder), token_budget=token_budget)

    return build
