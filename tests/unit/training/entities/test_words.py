"""Words of names: how they are compared, and in which order they are spoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.training.entities.words import head_word, meaning_words, natural, words_of


@given(st.text())
def test_every_word_is_a_slice_of_its_text_in_order_and_none_overlap(text: str) -> None:
    end = 0
    for word in words_of(text):
        assert end <= word.start < word.end <= len(text)
        end = word.end


def test_accents_case_and_hyphens_do_not_count() -> None:
    composed, apart = "SJÖGREN", "Sjo\u0308gren"
    assert [word.folded for word in words_of(f"{composed} {apart}-like")] == ["sjogren", "sjogren", "like"]


def test_a_decomposed_letter_keeps_its_mark_within_the_word() -> None:
    text = "a Sjo\u0308gren b"
    _, word, _ = words_of(text)
    assert text[word.start : word.end] == "Sjo\u0308gren"


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("Diabetes Mellitus, Type 2", "Type 2 Diabetes Mellitus"),
        ("Asthma", "Asthma"),
        ("Leukemia, Myeloid, Acute", "Leukemia, Myeloid, Acute"),
        ("Lung, ", "Lung, "),
    ],
)
def test_a_name_is_spoken_with_its_head_last_where_one_comma_says_what_that_is(
    name: str, spoken: str
) -> None:
    assert natural(name) == spoken


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Breast Neoplasms", "breast cancer"),
        ("Carcinoma, Non-Small-Cell Lung", "non small cell lung carcinoma"),
        ("Parkinson's Disease", "Parkinson Disease"),
        ("Allergies", "Allergy"),
        ("Neoplasms of the Colon", "colon tumour"),
    ],
)
def test_names_of_the_same_words_mean_the_same(one: str, other: str) -> None:
    assert meaning_words(one) == meaning_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Hepatitis A", "Hepatitis"), ("Protein S", "Protein"), ("Lupus", "Lupu"), ("Stroke", "Strokes risk")],
)
def test_letters_that_tell_things_apart_are_kept(one: str, other: str) -> None:
    assert meaning_words(one) != meaning_words(other)


@pytest.mark.parametrize(
    ("name", "head"),
    [("Carcinoma, Hepatocellular", "carcinoma"), ("lung cancers", "cancer"), ("Interleukin-2", ""), ("", "")],
)
def test_the_head_is_the_last_word_as_spoken_if_it_says_something(name: str, head: str) -> None:
    assert head_word(name) == head
