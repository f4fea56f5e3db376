"""Pairs of a text whose entities are exchanged."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.training.entities import Concept, DictionarySource, Swapped, swap

SOURCE = DictionarySource(
    [
        Concept("crohn", "condition", ("Crohn Disease", "regional enteritis"), frozenset({"bowel"})),
        Concept("uc", "condition", ("Ulcerative Colitis",), frozenset({"bowel"})),
        Concept("gout", "condition", ("Gout",)),
        Concept("aspirin", "intervention", ("Aspirin",)),
    ]
)


def drawn(text: str) -> set[Swapped | None]:
    """What many seeds make of a text."""
    return {swap(text, SOURCE, random.Random(seed)) for seed in range(80)}


def test_positives_are_the_canonical_name_or_a_sibling_and_negatives_lack_the_entity() -> None:
    text = "Diet in regional enteritis of adults"
    pairs = {pair for pair in drawn(text) if pair}
    assert {pair.positive for pair in pairs} == {
        "Diet in Crohn Disease of adults",
        "Diet in Ulcerative Colitis of adults",
    }
    assert {pair.negative for pair in pairs} == {"Diet in of adults", "Diet in Gout of adults"}
    assert {pair.text for pair in pairs} == {text}


def test_a_text_that_has_the_canonical_name_gets_a_sibling() -> None:
    assert {pair.positive for pair in drawn("CROHN DISEASE today") if pair} == {"Ulcerative Colitis today"}


def test_all_mentions_of_the_entity_are_exchanged() -> None:
    pairs = drawn("Crohn disease or regional enteritis?")
    assert {pair.negative for pair in pairs if pair} == {"or ?", "Gout or Gout?"}
    assert "Ulcerative Colitis or Ulcerative Colitis?" in {pair.positive for pair in pairs if pair}


def test_another_entity_may_be_taken_for_the_negative() -> None:
    negatives = {pair.negative for pair in drawn("Aspirin in ulcerative colitis") if pair}
    assert negatives == {"in ulcerative colitis", "Aspirin in", "Aspirin in Gout"}


def test_a_text_that_is_nothing_but_an_entity_is_not_emptied() -> None:
    assert {pair.negative for pair in drawn("Regional enteritis") if pair} == {"Gout"}


@pytest.mark.parametrize("text", ["", "Nothing that is known", "Aspirin", "gout and aspirin"])
def test_a_text_of_unknown_or_unexchangeable_entities_yields_no_pair(text: str) -> None:
    assert drawn(text) == {None}


def test_the_same_seed_makes_the_same_pair_and_another_one_may_not() -> None:
    text = "Aspirin in ulcerative colitis"
    assert swap(text, SOURCE, random.Random(5)) == swap(text, SOURCE, random.Random(5))
    assert len(drawn(text)) > 1


def test_an_empty_dictionary_makes_no_pair() -> None:
    assert swap("Crohn disease", DictionarySource([]), random.Random(0)) is None


_PIECES = st.sampled_from(
    ["regional enteritis", "GOUT", "aspirin", "in ", " ", "-", ". ", "é", "Ulcerative-colitis"]
)


@given(st.lists(_PIECES, max_size=12).map("".join), st.integers(0, 99))
def test_of_any_text_both_are_texts_that_say_something_else(text: str, seed: int) -> None:
    pair = swap(text, SOURCE, random.Random(seed))
    if pair is not None:
        assert pair.text == text
        assert pair.positive.casefold() != text.casefold()
        assert any(letter.isalnum() for letter in pair.negative)
        assert pair.negative != text
