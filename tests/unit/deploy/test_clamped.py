"""Texts in cells: wrapped at words, cut after so many lines."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text

from trifuse.deploy.clamped import Clamped


def _lines(text: str, width: int, *, lines: int = 2) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(Clamped(Text(text), lines=lines))
    return capture.get().splitlines()


@pytest.mark.parametrize(
    ("text", "lines", "expected"),
    [
        ("one two", 2, ["one two"]),
        ("one two three four", 2, ["one two", "three four"]),
        ("one two three four five", 2, ["one two", "three fou…"]),
        ("one two three four", 1, ["one two t…"]),
        ("[b]one[/b]", 2, ["[b]one[/b]"]),
        ("", 2, []),
    ],
)
def test_at_most_so_many_lines(text: str, lines: int, expected: list[str]) -> None:
    assert [line for line in _lines(text, 10, lines=lines) if line] == expected
