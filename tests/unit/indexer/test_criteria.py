"""T3: inclusion and exclusion told apart, in the shapes that registries' texts have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.indexer.criteria import pieces, split_criteria
from trifuse.indexer.readers.text import layout


def split(raw: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return split_criteria(layout(raw))


@pytest.mark.parametrize(
    ("raw", "inclusion", "exclusion"),
    [
        (
            "Inclusion Criteria:\n\n* adult\n* well\n\nExclusion Criteria:\n\n* pregnant",
            "adult|well",
            "pregnant",
        ),
        ("INCLUSION CRITERIA\n- adult\nEXCLUSION CRITERIA\n- pregnant", "adult", "pregnant"),
        ("Inclusion:\n\nadult\n\nExclusion:\n\npregnant", "adult", "pregnant"),
        ("adult\n\nExclusion Criteria\n\n1. pregnant\n2. asleep", "adult", "pregnant|asleep"),
        ("Exclusion Criteria:\n\n- asleep\n\nInclusion Criteria:\n\n- awake", "awake", "asleep"),
        ("Key Inclusion Criteria:\n- adult\nMain exclusion criteria:\n- asleep", "adult", "asleep"),
        (
            "Inclusion criteria for patients:\n- adult\nAngiographic Exclusion Criteria\n- asleep",
            "Inclusion criteria for patients:|adult",
            "Angiographic Exclusion Criteria|asleep",
        ),
        ("Inclusion/Exclusion Criteria:\n- adult", "adult", ""),
        ("Non-inclusion criteria:\n- asleep", "", "asleep"),
        ("Exlcusion Criteria:\n- asleep", "", "asleep"),
        ("2.1 Inclusion Criteria\n- adult\n2.2 Exclusion Criteria\n- asleep", "adult", "asleep"),
        ("ELIGIBILITY CRITERIA:\n- adult", "adult", ""),
        ("", "", ""),
        ("Inclusion Criteria:", "", ""),
    ],
)
def test_t3_headings(raw: str, inclusion: str, exclusion: str) -> None:
    expected = tuple(tuple(filter(None, side.split("|"))) for side in (inclusion, exclusion))
    assert split(raw) == expected


@pytest.mark.parametrize(
    ("raw", "inclusion", "exclusion"),
    [
        # one paragraph, the text right after its heading
        (
            "Inclusion Criteria: Adults of 18 years or more. Exclusion Criteria: Pregnant women.",
            ("Adults of 18 years or more.",),
            ("Pregnant women.",),
        ),
        # one paragraph, its bullets and its numbers run together
        (
            "Inclusion Criteria: - adults - BMI 18 - 30 - well Exclusion Criteria: - asleep - pregnant",
            ("adults", "BMI 18 - 30", "well"),
            ("asleep", "pregnant"),
        ),
        (
            "Inclusion Criteria: 1. adults 2. grade 2. or 3. ill Exclusion Criteria: 1) asleep 2) pregnant",
            ("adults", "grade 2. or", "ill"),
            ("asleep", "pregnant"),
        ),
        ("Inclusion criteria: • adults • awake", ("adults", "awake"), ()),
        # a sentence that says it
        (
            "Adults with asthma. Exclusion criteria include heart failure and sleep.",
            ("Adults with asthma.",),
            ("Exclusion criteria include heart failure and sleep.",),
        ),
        # lead-ins of old records
        (
            "Patients must have:\n\n- fever\n\nPatients with the following are excluded:\n\n- sleep",
            ("Patients must have:", "fever"),
            ("Patients with the following are excluded:", "sleep"),
        ),
        ("Concurrent Medication:\n\nExcluded:\n\n- aspirin", ("Concurrent Medication:",), ("aspirin",)),
    ],
)
def test_t3_run_together(raw: str, inclusion: tuple[str, ...], exclusion: tuple[str, ...]) -> None:
    assert split(raw) == (inclusion, exclusion)


@pytest.mark.parametrize(
    "raw",
    [
        "Exclusion Criteria:\n- Not meeting inclusion criteria\n- asleep",
        "Exclusion Criteria:\n- Does not meet the inclusion criteria\n- asleep",
        "Exclusion Criteria:\n- Conditions listed in Inclusion - see above\n- asleep",
    ],
)
def test_t3_a_criterion_that_speaks_of_criteria_is_no_heading(raw: str) -> None:
    inclusion, exclusion = split(raw)
    assert (inclusion, len(exclusion)) == ((), 2)


def test_t3_tildes_of_trial2vec_are_lines() -> None:
    from trifuse.indexer.readers.flat import raw_of_flat

    raw = raw_of_flat(
        {"nct_id": "NCT1", "disease": "x", "criteria": "Inclusion Criteria:~adult~Exclusion Criteria:~asleep"}
    )
    assert split(raw["eligibility"]) == (("adult",), ("asleep",))


HEADINGS = st.sampled_from(
    ["Inclusion Criteria:", "EXCLUSION CRITERIA", "Exclusion:", "Key Exclusion Criteria:", "Excluded:"]
)
# Words that can be no part of a heading or of a marker.
WORDS = st.from_regex(r"[fghjkmpqz]{3,8}", fullmatch=True)
LINES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
BLOCKS = st.one_of(HEADINGS, LINES, LINES.map("- {}".format), LINES.map("1. {}".format))


@given(st.lists(BLOCKS, min_size=1, max_size=12), st.sampled_from(["\n", "\n\n", " "]))
def test_no_criterion_is_lost(blocks: list[str], between: str) -> None:
    text = layout(between.join(blocks), wraps="never")
    inclusion, exclusion = split_criteria(text)
    kept = re.findall(r"\b[fghjkmpqz]{3,8}\b", " ".join((*inclusion, *exclusion)))
    assert sorted(kept) == sorted(re.findall(r"\b[fghjkmpqz]{3,8}\b", " ".join(blocks)))


@given(st.text())
def test_pieces_stand_in_the_text_in_order(raw: str) -> None:
    text = layout(raw) or ""
    end = 0
    for piece in pieces(text):
        assert end <= piece.start < piece.end <= len(text)
        assert text[piece.start : piece.end].strip() == text[piece.start : piece.end]
        end = piece.end
