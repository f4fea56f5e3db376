"""What a search among sentences refuses before anything is asked of the server."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.errors import BodyError
from trifuse.ranker.sentence_request import Wanted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"document": ""}, "document is '': give its name"),
        ({"document": 7}, "document is 7: give its name as a string"),
        ({"document": b"7"}, "document is b'7': give its name as a string"),
        ({"document": "half \ud83d"}, r"document is 'half \\ud83d': give its name"),
        ({"document": "7", "routing": ""}, "routing is '': give its name"),
        ({"document": "7", "routing": 1}, "routing is 1: give its name"),
        ({"sections": "body"}, "sections are 'body': give a list of their names"),
        ({"sections": 1}, "sections are 1: give a list"),
        ({"sections": [None]}, "a section is None: give its name"),
        ({"sections": ["body", ""]}, "a section is '': give its name"),
    ],
)
def test_names_that_nothing_can_have(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BodyError, match=said):
        Wanted(text="stroke", **given)


@pytest.mark.parametrize("name", ["a/b/../c", "é🙂 %2F?#", "x" * 512, " ", "*", "_all", 'it\'s "q"', "مرضى"])
def test_names_that_something_can_have(name: str) -> None:
    assert Wanted(text="stroke", document=name, routing=name, sections=[name]).document == name
