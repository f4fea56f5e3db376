"""Labelled documents, made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledSentence

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
