"""Concepts, their names in texts, and their kin."""

from __future__ import annotations

import random

import pytest

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.entities import Concept, DictionarySource, Entity

CONCEPTS = [
    Concept("hf", "condition", ("Heart Failure", "cardiac insufficiency"), frozenset({"heart"})),
    Concept("af", "condition", ("Atrial Fibrillation", "AF"), frozenset({"heart"})),
    Concept("asthma", "condition", ("Asthma",), frozenset({"lung"})),
    Concept("uc", "condition", ("Ulcerative Colitis",)),
    Concept("pc", "condition", ("Pseudomembranous Colitis",)),
    Concept("heart", "condition", ("Heart Diseases",)),
    Concept("aspirin", "intervention", ("Aspirin",), siblings=frozenset({"heparin", "unknown"})),
    Concept("heparin", "intervention", ("Heparin",)),
]


def the(source: DictionarySource, text: str) -> Entity:
    """The one entity of a text."""
    (entity,) = source.find(text)
    return entity


@pytest.fixture
def source() -> DictionarySource:
    """The concepts above."""
    return DictionarySource(CONCEPTS)


def test_a_mention_has_its_place_its_spelling_and_its_concept(source: DictionarySource) -> None:
    text = "Chronic CARDIAC-insufficiency in adults"
    assert source.find(text) == [Entity(8, 29, "CARDIAC-insufficiency", "hf")]


def test_the_preferred_name_is_the_canonical_one(source: DictionarySource) -> None:
    assert source.canonical(the(source, "cardiac insufficiency")) == "Heart Failure"


def test_siblings_share_a_parent(source: DictionarySource) -> None:
    assert source.siblings(the(source, "heart failure")) == ["Atrial Fibrillation"]
    assert source.siblings(the(source, "asthma")) == []


def test_without_a_parent_siblings_end_in_the_same_word(source: DictionarySource) -> None:
    assert source.siblings(the(source, "ulcerative colitis")) == ["Pseudomembranous Colitis"]


def test_a_word_that_ends_many_names_makes_no_siblings() -> None:
    source = DictionarySource(Concept(str(n), "condition", (f"organ{n} disease",)) for n in range(21))
    assert source.siblings(Entity(0, 0, "", "0")) == []


def test_siblings_that_a_source_names_are_taken_where_they_are_known(source: DictionarySource) -> None:
    assert source.siblings(the(source, "aspirin")) == ["Heparin"]


def test_the_dissimilar_is_of_the_same_kind_and_unrelated(source: DictionarySource) -> None:
    entity = the(source, "heart failure")
    drawn = {source.dissimilar(entity, random.Random(seed)) for seed in range(60)}
    assert drawn == {"Asthma", "Ulcerative Colitis", "Pseudomembranous Colitis"}


def test_the_same_seed_draws_the_same(source: DictionarySource) -> None:
    entity = the(source, "asthma")
    drawn = [
        [source.dissimilar(entity, rng) for _ in range(9)] for rng in (random.Random(3), random.Random(3))
    ]
    assert drawn[0] == drawn[1]


def test_a_rare_unrelated_one_is_found_after_many_related_ones() -> None:
    near = [Concept(str(n), "condition", (f"lung trouble {n}",)) for n in range(300)]
    source = DictionarySource([*near, Concept("far", "condition", ("Asthma",))])
    assert source.dissimilar(Entity(0, 0, "", "7"), random.Random(0)) == "Asthma"


def test_where_all_are_related_there_is_no_dissimilar_one(source: DictionarySource) -> None:
    assert source.dissimilar(the(source, "heparin"), random.Random(0)) is None


def test_an_empty_dictionary_finds_nothing_and_knows_nothing() -> None:
    source, stranger = DictionarySource([]), Entity(0, 6, "Asthma", "asthma")
    assert source.find("Asthma") == []
    assert source.canonical(stranger) is None
    assert source.siblings(stranger) == ()
    assert source.dissimilar(stranger, random.Random(0)) is None


def test_looking_up_changes_nothing(source: DictionarySource) -> None:
    entity = the(source, "asthma")
    first = source.siblings(entity)
    source.siblings(Entity(0, 0, "", "heart"))
    assert source.siblings(entity) == first
    assert len(source) == 8


def test_two_concepts_of_one_id_are_refused() -> None:
    with pytest.raises(TrainingInvalid, match=r"'x'.*id of its own"):
        DictionarySource([Concept("x", "", ("a",)), Concept("x", "", ("b",))])


def test_a_concept_without_a_name_is_refused() -> None:
    with pytest.raises(TrainingInvalid, match="'x' has no name"):
        DictionarySource([Concept("x", "", ())])
