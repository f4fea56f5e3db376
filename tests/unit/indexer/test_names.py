"""Names that no index and no alias has."""

from __future__ import annotations

import pytest

from trifuse.indexer.names import name_fault


@pytest.mark.parametrize("name", ["trials", "Trials", "trials-2026.11", ".hidden", "größe", "a" * 255])
def test_names_that_something_may_have(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "it is empty"),
        ("*", "it holds '*'"),
        ("a,b", "it holds ','"),
        ("a b", "it holds ' '"),
        ("a/b", "it holds '/'"),
        ("<logs-{now/d}>", "it holds '<'"),
        ("a\udcff", "it holds '\\udcff'"),
        ("a\nb", "it holds '\\n'"),
        ("_all", "it starts with '_'"),
        ("-x", "it starts with '-'"),
        ("..", "it starts with '.'"),
        ("ö" * 128, "it has 256 bytes, and 255 are the most"),
    ],
)
def test_names_that_nothing_has(name: str, fault: str) -> None:
    assert name_fault(name) == fault
