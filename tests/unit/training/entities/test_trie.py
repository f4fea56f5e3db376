"""Names in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.training.entities.trie import NameTrie


def found(names: list[str], text: str) -> list[str]:
    """The mentions, as the text spells them."""
    trie = NameTrie((name, name) for name in names)
    return [text[match.start : match.end] for match in trie.find(text)]


def test_the_longest_name_at_a_place_is_taken() -> None:
    names = ["lung", "lung cancer", "small cell lung cancer", "cancer"]
    assert found(names, "Small cell lung cancer, lung cancer and cancer") == [
        "Small cell lung cancer",
        "lung cancer",
        "cancer",
    ]


def test_names_that_overlap_are_taken_from_the_left() -> None:
    assert found(["heart failure", "failure to thrive"], "heart failure to thrive") == ["heart failure"]


def test_a_longer_name_that_breaks_off_leaves_the_shorter_one() -> None:
    assert found(["heart", "heart failure of old age"], "heart failure of children") == ["heart"]


@pytest.mark.parametrize(
    "text", ["non-small-cell", "Non\u2010Small\u2013Cell", "non small\xa0cell", "NON  SMALL CELL"]
)
def test_hyphens_case_and_spaces_do_not_count(text: str) -> None:
    assert found(["Non-Small Cell"], f"a {text} b") == [text]


@pytest.mark.parametrize("text", ["breast. Cancer", "breast; cancer", "breast\ncancer", "breast: cancer"])
def test_a_name_ends_where_a_sentence_does(text: str) -> None:
    assert found(["breast cancer"], text) == []


def test_a_name_is_no_part_of_a_word() -> None:
    assert found(["art", "pain"], "Heart painting by artists") == []


def test_an_acronym_is_found_as_it_is_spelled() -> None:
    assert found(["ALL"], "All of them had ALL at all times") == ["ALL"]


def test_a_name_that_is_also_spelled_small_is_found_in_both_spellings() -> None:
    assert found(["AIDS", "Aids"], "AIDS, aids") == ["AIDS", "aids"]


def test_the_first_of_two_equal_names_keeps_its_id() -> None:
    trie = NameTrie([("Cold", "temperature"), ("cold", "infection")])
    assert [match.id for match in trie.find("a cold")] == ["temperature"]


def test_names_of_other_scripts() -> None:
    assert found(["糖尿病", "Диабет", "β-thalassaemia"], "糖尿病 / ДИАБЕТ / Β-Thalassaemia") == [
        "糖尿病",
        "ДИАБЕТ",
        "Β-Thalassaemia",
    ]


@pytest.mark.parametrize("name", ["", " ", "---", "?"])
def test_a_name_without_a_word_is_never_found(name: str) -> None:
    assert found([name], "any --- text ?") == []


_WORDS = st.sampled_from(["lung", "Lung", "cancer", "cell", "small", "HIV", "ö", "2"])
_TEXTS = st.lists(st.one_of(_WORDS, st.sampled_from([" ", "-", ". ", ", ", "\n"])), max_size=30).map("".join)
_NAMES = st.lists(st.lists(_WORDS, min_size=1, max_size=3).map(" ".join), max_size=6)


@given(_NAMES, _TEXTS)
def test_mentions_are_slices_that_do_not_overlap_and_spell_a_name(names: list[str], text: str) -> None:
    trie = NameTrie((name, name) for name in names)
    end = 0
    for match in trie.find(text):
        assert end <= match.start < match.end <= len(text)
        end = match.end
        assert found(names, text[match.start : match.end]) == [text[match.start : match.end]]


@given(st.lists(st.text(), max_size=4), st.text())
def test_any_names_and_any_text(names: list[str], text: str) -> None:
    assert all(each in text for each in found(names, text))
