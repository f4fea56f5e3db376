"""T3: texts of all sources become one paragraph or list item a line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.indexer.readers.text import Wraps, clean, layout


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("age &lt;18", "age <18"),
        ("ANC \\>= 1,500/mm\\^3 \\[normal\\]", "ANC >= 1,500/mm^3 [normal]"),
        ("one &lte; two &gte; three", "one ≤ two ≥ three"),
        ("R&D at AT&T; A&parameter", "R&D at AT&T; A&parameter"),
        ("two\r\nlines\tand  a\u00a0blank", "two lines and a blank"),
        ("nul\x00 and \ud800 and \u200bnothing", "nul and and nothing"),
        ("cafe\u0301", "café"),
        ("   ", None),
        ("", None),
        (None, None),
        (3, "3"),
        (True, None),
        ({"a": "b"}, None),
    ],
)
def test_t3_a_text_of_one_line(raw: object, expected: str | None) -> None:
    assert clean(raw) == expected


def test_t3_crlf_wraps_are_joined_and_the_list_stays_a_list() -> None:
    raw = (
        "Inclusion Criteria:\r\n\r\n"
        "          -  Adults who were referred to one of the twelve clinics and have signed the\r\n"
        "             consent form\r\n\r\n"
        "          -  Kidneys:\r\n\r\n"
        "               -  creatinine &lt;2\r\n\r\n"
        "               -  no stones\r\n\r\n"
        "          -  Able to walk\r\n\r\n"
        "        Exclusion Criteria:\r\n\r\n"
        "          1. Pregnant\r\n"
    )
    assert layout(raw) == (
        "Inclusion Criteria:\n"
        "- Adults who were referred to one of the twelve clinics and have signed the consent form\n"
        "- Kidneys:\n"
        "  - creatinine <2\n"
        "  - no stones\n"
        "- Able to walk\n"
        "Exclusion Criteria:\n"
        "1. Pregnant"
    )


def test_t3_markdown_of_the_api_gives_the_same() -> None:
    raw = "Inclusion Criteria:\n\n* Kidneys:\n\n  * urea \\<2\n  * no stones\n* Awake\n\nExclusion:\n\n1. Old"
    assert layout(raw) == (
        "Inclusion Criteria:\n- Kidneys:\n  - urea <2\n  - no stones\n- Awake\nExclusion:\n1. Old"
    )


def test_t3_short_lines_are_the_authors_own() -> None:
    assert layout("Diabetes\nHypertension\nA text\n\nAnother") == "Diabetes\nHypertension\nA text\nAnother"


def test_t3_a_text_with_one_long_line_is_not_wrapped_anywhere() -> None:
    long = "word " * 30
    assert layout(
        f"{long}\nthis is the second line of an author who writes long lines of their own\nthird"
    ) == (f"{long.strip()}\nthis is the second line of an author who writes long lines of their own\nthird")


@pytest.mark.parametrize(("feed", "wraps"), [("\r\n", "maybe"), ("\n", "always")])
def test_t3_narrow_wraps_of_xml_are_joined(feed: str, wraps: Wraps) -> None:
    lines = [
        "Inclusion Criteria:",
        "  - Adults",
        "    with asthma",
        "  - Able",
        "    to walk",
        "Exclusion Criteria:",
    ]
    lines += ["  - Pregnant", "Not a", "heading"]
    assert layout(feed.join(lines), wraps=wraps) == (
        "Inclusion Criteria:\n- Adults with asthma\n- Able to walk\n"
        "Exclusion Criteria:\n- Pregnant\nNot a heading"
    )


def test_t3_a_hanging_indent_goes_on() -> None:
    assert layout("- Adults\n  with asthma\n- Able\nto walk") == "- Adults with asthma\n- Able\nto walk"


def test_t3_lines_of_the_old_api_are_kept() -> None:
    raw = "Adults who were referred to one of the twelve clinics and have signed\nAble to walk"
    assert layout(raw, wraps="never") == raw
    assert layout(raw) == raw.replace("\n", " ")


@pytest.mark.parametrize("bullet", ["-", "*", "•", "–", "·", "●"])
def test_t3_bullets_of_all_kinds(bullet: str) -> None:
    assert layout(f"{bullet} one\n{bullet}  two\n\n{bullet}") == "- one\n- two"


@pytest.mark.parametrize("number", ["1.", "2)", "(3)", "a.", "b)", "iv.", "1.2."])
def test_t3_numbers_stay(number: str) -> None:
    assert layout(f"{number}   one") == f"{number} one"


def test_t2_a_list_of_texts_is_paragraphs() -> None:
    assert layout(["one", None, "two"]) == "one\ntwo"
    assert layout([]) is None
    assert layout({"not": "a text"}) is None


@given(st.text())
def test_layout_is_stable(text: str) -> None:
    once = layout(text, wraps="never")
    if once is not None:
        assert layout(once, wraps="never") == once or "&" in text or "\\" in text
        assert all(line.strip() for line in once.split("\n"))


UNMARKED = st.characters(
    exclude_categories=["Cc", "Cs"], exclude_characters="&\\-–—*•●○▪■◦‣∙·►➢✓\u200b\u2060\ufeff"
)


@given(st.text(UNMARKED))
def test_no_word_is_lost(text: str) -> None:
    assert (layout(text) or "").split() == unicodedata.normalize("NFC", text).split()
