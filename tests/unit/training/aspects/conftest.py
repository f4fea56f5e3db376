"""Labelled documents, made by hand, and a BERT of a few thousand weights."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledSentence

BUILDER = Path(__file__).parents[4] / "benchmarks" / "tiny_bert.py"
NAMES = {"P": "population", "I": "intervention", "O": "outcome", "C": "comparator"}


@pytest.fixture
def labelled() -> Callable[..., LabelledDocument]:
    """A document from the letters of its candidates' aspects; the title comes first and has none."""

    def make(name: str, *letters: str, split: str = "", source: str = "") -> LabelledDocument:
        sentences, at = [], 0
        for number, each in enumerate(("", *letters)):
            text = f"Sentence {number} of {name}."
            sentences.append(
                LabelledSentence(text, at, at + len(text), frozenset(NAMES[letter] for letter in each))
            )
            at += len(text) + 1
        text = " ".join(sentence.text for sentence in sentences)
        return LabelledDocument(name, text, tuple(sentences), split, source)

    return make


@pytest.fixture
def make_bert(bert: Callable[..., Any], tokenizer_file: Path) -> Callable[..., Path]:
    """`make_bert(folder, **description)`: a tiny BERT as a model's folder, see benchmarks/tiny_bert.py."""
    make: Callable[..., Path] = runpy.run_path(str(BUILDER))["make_bert"]
    return lambda folder, **description: make(folder, bert(), tokenizer_file, **description)


@pytest.fixture
def base(make_bert: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that adapters can be trained for."""
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    return make_bert(tmp_path / "base", licence="MIT")


@pytest.fixture
def organs() -> list[LabelledDocument]:
    """Documents on an organ: a disease, a treatment, both in one, and neither."""
    documents = []
    for organ in ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood"):
        texts = {
            f"a trial of the {organ}": "",
            f"aspirin treatment of the {organ}": "I",
            f"the {organ} disease": "P",
            f"aspirin treatment of the {organ} disease": "PI",
            "a trial": "",
        }
        sentences = tuple(
            LabelledSentence(text, 0, len(text), frozenset(NAMES[letter] for letter in letters))
            for text, letters in texts.items()
        )
        documents.append(LabelledDocument(organ, " ".join(texts), sentences))
    return documents
