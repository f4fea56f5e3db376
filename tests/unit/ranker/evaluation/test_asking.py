"""Ways to ask for an aspect, on a model whose numbers are worked out by hand."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from trifuse.encoder.registry import load_encoder
from trifuse.encoder.types import Encoder
from trifuse.ranker.evaluation.asking import asked_documents, generic, instructed, sentence_vectors

BUILDER = Path(__file__).parents[4] / "benchmarks" / "tiny_model.py"
P, O = frozenset({"population"}), frozenset({"outcome"})  # noqa: E741
ASPECTS = ("population", "outcome")


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    """The mean of [CLS], the words and [SEP]; who is along the first axis, what came along the second."""
    words = {"who": (4.0, 0.0), "men": (3.0, 0.0), "came": (0.0, 4.0), "pain": (0.0, 3.0), "zinc": (1.0, 1.5)}
    folder = runpy.run_path(str(BUILDER))["make_model"](tmp_path / "tiny", words)
    return load_encoder(str(folder))


def test_sentences_of_documents_keep_together(encoder: Encoder) -> None:
    seen: list[int] = []
    vectors, rejected = sentence_vectors(encoder, [["men", "pain"], [], ["\x00", "zinc"]], seen.append)
    assert (rejected, seen) == (1, [4])
    assert [len(each) for each in vectors] == [2, 0, 2]
    np.testing.assert_allclose(vectors[0], [[1, 0], [0, 1]])  # a third of the word's row
    assert np.isnan(vectors[2][0]).all()
    np.testing.assert_allclose(vectors[2][1], [1 / 3, 0.5])


def test_the_topic_alone_finds_the_same_for_every_aspect(encoder: Encoder) -> None:
    """Zinc is nearer to pain (1.5 * 3) than to men (1 * 3)."""
    vectors, _ = sentence_vectors(encoder, [["men", "pain"]])
    (found,) = asked_documents(generic(encoder), ["zinc"], [[P, O]], vectors, ASPECTS)
    assert found.first == {"population": 1, "outcome": 1}
    assert found.aspects == [P, O]


def test_an_instruction_turns_the_query(encoder: Encoder) -> None:
    """`who zinc` is (5, 1.5): men. `came zinc` is (1, 5.5): pain."""
    ask = instructed(encoder, {"population": "who {text}", "outcome": "came {text}"})
    vectors, _ = sentence_vectors(encoder, [["men", "pain"], ["pain", "men"]])
    found = asked_documents(ask, ["zinc", "zinc"], [[P, O], [O, P]], vectors, ASPECTS)
    assert [each.first for each in found] == [
        {"population": 0, "outcome": 1},
        {"population": 1, "outcome": 0},
    ]


def test_documents_without_sentences_and_sentences_without_text_are_passed_over(encoder: Encoder) -> None:
    vectors, _ = sentence_vectors(encoder, [[], ["\x00", "men"]])
    found = asked_documents(generic(encoder), ["", "zinc"], [[], [O, P]], vectors, ASPECTS)
    assert [each.first for each in found] == [{}, {"population": 1, "outcome": 1}]
    none, _ = sentence_vectors(encoder, [[]])
    assert asked_documents(generic(encoder), [""], [[]], none, ASPECTS)[0].first == {}


def test_many_sentences_are_encoded_in_parts(encoder: Encoder) -> None:
    seen: list[int] = []
    vectors, _ = sentence_vectors(encoder, [["zinc"] * 1500 + ["pain"]], seen.append)
    assert seen == [512, 1024, 1501]
    (found,) = asked_documents(generic(encoder), ["zinc"], [[P] * 1500 + [O]], vectors, ("outcome",))
    assert found.first == {"outcome": 1500}
