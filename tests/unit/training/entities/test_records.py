"""The dictionary that trial records make up."""

from __future__ import annotations

from typing import Any

from trifuse.encoder.training.entities import Concept, DictionarySource, concepts_of_records


def trial(conditions: list[str], mesh: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """A record of some conditions."""
    return {"conditions": conditions, "condition_mesh": mesh or [], **more}


def by_name(concepts: list[Concept]) -> dict[str, Concept]:
    """Concepts by their preferred names."""
    return {concept.names[0]: concept for concept in concepts}


def test_names_of_the_same_words_are_one_concept_that_the_mesh_term_names() -> None:
    (concept,) = concepts_of_records(
        [trial(["Breast Cancer"], ["Breast Neoplasms"]), trial(["Breast Cancer", "cancer of the breast"])]
    )
    assert concept.names == ("Breast Neoplasms", "Breast Cancer", "cancer of the breast")
    assert concept.kind == "condition"


def test_an_inverted_name_is_known_as_it_is_spoken_too() -> None:
    (concept,) = concepts_of_records([trial([], ["Diabetes Mellitus, Type 2"])])
    assert concept.names == ("Diabetes Mellitus, Type 2", "Type 2 Diabetes Mellitus")


def test_a_name_is_kept_from_two_records_on_and_a_mesh_term_from_one() -> None:
    records = [trial(["Gout", "Rare thing"], ["Hyperuricemia"]), trial(["Gout"])]
    assert [each.names[0] for each in concepts_of_records(records)] == ["Gout", "Hyperuricemia"]
    assert len(concepts_of_records(records, least=1)) == 3


def test_interventions_are_texts_or_mappings_with_a_name() -> None:
    records = [
        {
            "interventions": [{"name": "Aspirin", "type": "DRUG"}, {"name": None}],
            "intervention_mesh": ["Aspirin"],
        },
        {"interventions": ["aspirin", "Ice"]},
        {"interventions": [{"name": "Ice"}], "conditions": None},
    ]
    concepts = concepts_of_records(records)
    assert [(each.names, each.kind) for each in concepts] == [
        (("Aspirin", "aspirin"), "intervention"),
        (("Ice",), "intervention"),
    ]


def test_a_name_is_of_the_kind_that_it_mostly_has() -> None:
    records = [trial(["Exercise"]), *[{"interventions": ["Exercise"]}] * 2]
    (concept,) = concepts_of_records(records)
    assert concept.kind == "intervention"


def test_an_acronym_in_brackets_is_a_name_of_its_own_where_its_letters_fit() -> None:
    lung = "Chronic Obstructive Pulmonary Disease (COPD)"
    records = [trial([lung, "Severe migraine (ABC)"])] * 2
    names = by_name(concepts_of_records(records))
    assert names["Chronic Obstructive Pulmonary Disease"].names[-1] == "COPD"
    assert "Severe migraine (ABC)" in names


def test_names_that_say_nothing_are_left_out() -> None:
    nothing = [
        "Placebo",
        "N/A",
        "Healthy",
        "Disease",
        "standard of care",
        "42",
        "",
        "x",
        " ".join("abcdefghi"),
    ]
    assert concepts_of_records([trial(nothing)] * 3) == []


def test_what_is_hardly_ever_seen_without_a_wider_mesh_term_has_it_for_its_parent() -> None:
    colitis = trial([], ["Colitis", "Intestinal Diseases"])
    crohn = trial([], ["Crohn Disease", "Intestinal Diseases"])
    names = by_name(concepts_of_records([colitis] * 3 + [crohn] * 3 + [trial([], ["Asthma"])] * 2))
    wide = names["Intestinal Diseases"].id
    assert names["Colitis"].parents == names["Crohn Disease"].parents == {wide}
    assert not names["Intestinal Diseases"].parents
    assert not names["Asthma"].parents


def test_of_wider_and_widest_only_the_wider_one_is_the_parent() -> None:
    ulcerative = [trial([], ["Ulcerative Colitis", "Colitis", "Intestinal Diseases"])] * 3
    other = [trial([], ["Colitis", "Intestinal Diseases"])] * 2 + [trial([], ["Intestinal Diseases"])] * 3
    names = by_name(concepts_of_records(ulcerative + other))
    assert names["Ulcerative Colitis"].parents == {names["Colitis"].id}
    assert names["Colitis"].parents == {names["Intestinal Diseases"].id}


def test_two_records_are_too_few_to_tell_a_parent() -> None:
    wide = [trial([], ["Intestinal Diseases"])] * 5
    names = by_name(concepts_of_records([trial([], ["Colitis", "Intestinal Diseases"])] * 2 + wide))
    assert not names["Colitis"].parents


def test_what_is_always_seen_together_is_neither_ones_parent() -> None:
    concepts = concepts_of_records([trial([], ["Colitis", "Hypophosphatasia"])] * 4)
    assert not any(concept.parents for concept in concepts)


def test_the_order_is_by_records_then_by_name() -> None:
    concepts = concepts_of_records([trial(["Gout", "Asthma", "Stroke"])] * 2 + [trial(["Stroke"])])
    assert [each.names[0] for each in concepts] == ["Stroke", "Asthma", "Gout"]


def test_no_records_make_an_empty_dictionary() -> None:
    assert DictionarySource(concepts_of_records([])).find("Asthma") == []
