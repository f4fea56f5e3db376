"""T3: sentences with offsets into the stored text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.indexer.readers.text import layout
from trifuse.indexer.sentences import sentences_of
from trifuse.indexer.trial import Trial


def texts(summary: str) -> list[str]:
    return [sentence.text for sentence in sentences_of(Trial(nct_id="NCT1", brief_summary=summary))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Drugs, e.g. Aspirin, help. They do.", ["Drugs, e.g. Aspirin, help.", "They do."]),
        ("Smith et al. Found it.", ["Smith et al. Found it."]),
        (
            "Grown with E. coli at 37.5 degrees. Then frozen.",
            ["Grown with E. coli at 37.5 degrees.", "Then frozen."],
        ),
        ("See Fig. 2. It is blue.", ["See Fig. 2.", "It is blue."]),
        ("Given vs. Placebo (i.e. Sugar). 12 weeks.", ["Given vs. Placebo (i.e. Sugar).", "12 weeks."]),
        ("A dose of 0.5 mg.", ["A dose of 0.5 mg."]),
        ("Lines:\n- One. Two.\n  1. Three", ["Lines:", "One.", "Two.", "Three"]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
    ],
)
def test_t3_where_sentences_end(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_t3_sections_and_offsets() -> None:
    trial = Trial(
        nct_id="NCT1",
        brief_summary="A. B.",
        detailed_description="C.",
        eligibility="Inclusion Criteria:\n- Adult. Awake.\nExclusion Criteria: asleep",
    )
    assert [(each.section, each.start, each.end, each.text) for each in sentences_of(trial)] == [
        ("brief_summary", 0, 5, "A. B."),
        ("detailed_description", 0, 2, "C."),
        ("eligibility.inclusion", 22, 28, "Adult."),
        ("eligibility.inclusion", 29, 35, "Awake."),
        ("eligibility.exclusion", 56, 62, "asleep"),
    ]


def test_a_trial_without_texts_has_no_sentence() -> None:
    assert list(sentences_of(Trial(nct_id="NCT1"))) == []


@given(st.text(), st.text(), st.text())
def test_a_sentence_is_its_slice_of_the_field(summary: str, description: str, eligibility: str) -> None:
    trial = Trial(
        nct_id="NCT1",
        brief_summary=layout(summary),
        detailed_description=layout(description),
        eligibility=layout(eligibility),
    )
    for sentence in sentences_of(trial):
        assert getattr(trial, sentence.field)[sentence.start : sentence.end] == sentence.text
        assert sentence.text.strip()


@given(
    st.lists(
        st.sampled_from(["Word.", "word", "No.", "5", "(A", "b).", "\n", "- ", "e.g.", "?"]), max_size=30
    )
)
def test_sentences_hold_every_word(parts: list[str]) -> None:
    summary = layout(" ".join(parts), wraps="never") or ""
    words = [word for line in summary.split("\n") for word in line.strip().removeprefix("- ").split()]
    assert " ".join(texts(summary)).split() == words
