"""Texts are built by one function, and hashed the same everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.templates import TextTemplate, build_text, clean_text, text_hash


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("&lt;18", "<18"),
        ("a\r\n b", "a b"),
        ("\x00a\ud800", "a"),
        ("  ", ""),
        ("e\u0301", "\u00e9"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
    ids=["entity", "crlf", "nul and surrogate", "blank", "nfc", "zero-width non-joiner stays"],
)
def test_clean_text(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"t": "A", "arms": [{"n": "x"}, {"n": "y"}]}, "A\nx; y"),
        ({"t": ["A", "B"]}, "A; B"),
        ({"t": "A", "arms": {"n": "x"}}, "A\nx"),
        ({"t": "A", "arms.n": "x"}, "A\nx"),
        ({"t": None, "arms": [{"n": ""}, {}]}, ""),
        ({"t": 7, "arms": True}, "7"),
        ({"t": {"unexpected": "object"}}, ""),
        ({}, ""),
    ],
)
def test_build_text(source: dict[str, Any], text: str) -> None:
    assert build_text(source, TextTemplate(("t", "arms.n"))) == text


def test_cut_by_characters() -> None:
    assert build_text({"t": "abc def"}, TextTemplate(("t",), max_chars=4)) == "abc"


def test_a_template_without_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one field"):
        TextTemplate(())


def test_template_survives_json() -> None:
    template = TextTemplate(("a", "b.c"), separator=" | ", max_chars=9, role="query")
    assert TextTemplate.from_dict(template.as_dict()) == template


@given(st.text())
def test_cleaning_twice_changes_nothing_but_entities(text: str) -> None:
    once = clean_text(text.replace("&", " "))
    assert clean_text(once) == once


def test_hash_is_sha256() -> None:
    # printf abc | sha256sum
    assert text_hash("abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert len(text_hash("\ud800")) == 32
