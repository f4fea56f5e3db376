"""Texts as sources have them to texts as the record keeps them.

Sources wrap lines at 80 to 100 columns, escape Markdown (`\\>=`), leave entities (`&lt;`), and mark list
items in a dozen ways. Here they become one paragraph or list item a line.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any, Literal

Wraps = Literal["always", "maybe", "never"]

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_ENTITIES_OF_AUTHORS = {"&lte;": "≤", "&gte;": "≥"}
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()<>#+\-.!~|&=^$%:;,/'\"@?])")
# Controls other than tab and line feed, surrogates that no pair claims, and marks of no width.
_UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u2060\ufeff]")

_ROUND = "•●○▪■◦‣∙·►➢✓"
_BULLETS = "-–—*" + _ROUND

MARKER = re.compile(
    r"(?P<indent>[ ]*)"
    rf"(?:(?P<bullet>[-–—*]+(?=\s)|[{_ROUND}]+)"
    r"|(?P<number>\(?\d{1,2}(?:\.\d{1,2})*[.)](?=\s)|\(\d{1,2}\)(?=\s)"
    r"|\(?[a-z][)](?=\s)|[a-z]\.(?=\s)|\(?[ivx]{2,4}[.)](?=\s)))"
    r"\s*(?=\S)"
)
"""The start of a list item: its indent, and a bullet or a number."""

_HEADING = re.compile(r"(?:[\w.-]+ ){0,2}(?:in|ex)clusion criteria ?:?", re.IGNORECASE)

# A line that was wrapped ends where the next word would have gone over the margin: 80 to 100 columns in the
# registry's files, less up to 20 of indent where a source has stripped it. A text with a longer line than any
# margin isn't wrapped at all: its line feeds are the author's.
_NARROWEST_MARGIN = 64
_WIDEST_MARGIN = 110


def _readable(text: str) -> str:
    """Entities and Markdown escapes decoded, NFC, line feeds only, no controls."""
    if "&" in text:
        text = _ENTITY.sub(lambda m: _ENTITIES_OF_AUTHORS.get(m[0]) or html.unescape(m[0]), text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _UNREADABLE.sub(" ", text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def clean(value: Any) -> str | None:
    r"""A text of one line; None where there is none.

    >>> clean(" age &lt;18 \\>= \r\n years ")
    'age <18 >= years'
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return None
    return " ".join(_readable(value).split()) or None


def layout(value: Any, *, wraps: Wraps = "maybe") -> str | None:
    r"""A text of several paragraphs and list items, one a line.

    Args:
        value: the text; anything else than a text or a list of texts gives None.
        wraps: whether the source wraps lines: where it never does, each line feed starts a paragraph.

    >>> layout("Inclusion:\r\n\r\n  -  age over\r\n     18\r\n\r\n  -  consent:\r\n\r\n       1. written")
    'Inclusion:\n- age over 18\n- consent:\n  1. written'
    """
    if isinstance(value, list | tuple):
        value = "\n\n".join(item for item in value if isinstance(item, str))
    if not isinstance(value, str):
        return clean(value)
    if wraps == "maybe" and "\r\n" in value:
        wraps = "always"  # the mark of the registry's XML, and of all that was made from it
    lines = _readable(value).expandtabs(4).split("\n")
    if wraps == "maybe" and max(map(len, lines)) > _WIDEST_MARGIN:
        wraps = "never"
    return "\n".join(_blocks(lines, wraps)) or None


def _blocks(lines: list[str], wraps: Wraps) -> list[str]:
    """Paragraphs and list items, each in one line."""
    blocks: list[str] = []
    indents: list[int] = []  # of the list items that enclose this line
    above = ""  # the line before this one, "" where a block can't go on
    for line in lines:
        words = " ".join(line.split())
        if not words.strip(_BULLETS):
            above = ""
            continue
        indent = len(line) - len(line.lstrip())
        if item := MARKER.match(line):
            while indents and indents[-1] >= indent:
                indents.pop()
            text = words[len(item[0].split()[0]) :].lstrip()
            blocks.append(f"{'  ' * len(indents)}{item['number'] or '-'} {text}")
            indents.append(indent)
        elif above and _goes_on(above, words, wraps, indent - indents[-1] if indents else 0):
            blocks[-1] += " " + words
        else:
            if indents and indent <= indents[0]:
                indents.clear()
            blocks.append(words)
        above = "" if _HEADING.fullmatch(words) else line.rstrip()
    return blocks


def _goes_on(above: str, words: str, wraps: Wraps, deeper: int) -> bool:
    """Whether `words` go on with the line above.

    Args:
        deeper: how much deeper than the list item around it the line stands; 0 outside of lists.
    """
    if wraps == "never" or deeper < 0 or _HEADING.fullmatch(words):
        return False
    if wraps == "always" or deeper > 0:
        return True
    return len(above) + 1 + len(words.split(" ", 1)[0]) > _NARROWEST_MARGIN
