"""Eligibility text to inclusion and exclusion criteria.

The text is one paragraph or list item a line (`readers.text.layout`). Headings say which side follows;
authors write them on a line of their own, before the first criterion, or in the middle of a paragraph.
What stands before any heading is inclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from trifuse.indexer.readers.text import MARKER

Side = Literal["inclusion", "exclusion"]


class Piece(msgspec.Struct, frozen=True):
    """One criterion: `text[start:end]`, without its bullet, number or heading."""

    side: Side
    start: int
    end: int


_KIND = (
    r"(?P<kind>inclusion\s*(?:/|&|and|or)\s*exclusion|non-?\s?inclusion|inclusion|ex(?:cl|lc)usion(?:ary)?)"
)
# A heading that says no more than the side: `2.1 Key Exclusion Criteria:`, `Excluded:`.
_TITLE = re.compile(
    r"(?:(?:\d[\d.]*|key|main|major|general|primary|study|other|additional|further|patients?|participants?"
    rf"|subjects?)\s+){{0,3}}{_KIND}\s+criteri(?:a|on)(?:\s*[:–—-]+(?=\s|$)\s*|\.?$)",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?P<kind>(?:in|ex)clu(?:sions?|ded)|required|allowed|(?:main |key )?eligibility criteria)(?:\s*:\s*|$)",
    re.IGNORECASE,
)
# One that says more, alone on its line, is kept as a criterion: `Exclusion criteria for donors:`.
_QUALIFIED = re.compile(
    rf"(?!.*\b(?:meet\w*|fulfil\w*|satisf\w*)\b)(?:[\w/.-]+\s+){{0,3}}?{_KIND}\s+criteri(?:a|on)\b"
    r"(?:[^:.]{0,80}:|(?:\s(?:for|in)\s[^:.]{1,60})?\.?)$",
    re.IGNORECASE,
)
# In the middle of a paragraph a heading has its capital and its colon, or is a sentence of its own, which is
# kept: `Exclusion criteria include ...`.
_CRITERIA = r"(?:\s(?:[Cc]riteri(?:a|on)|CRITERI(?:A|ON)))?"
_INLINE = re.compile(
    r"(?<=[\s.;,)])(?P<heading>(?:(?:Key|Main|Major|KEY|MAIN)\s)?"
    r"(?P<kind>Non-?[Ii]nclusion|NON-?INCLUSION|Inclusion|Exclusion|INCLUSION|EXCLUSION)"
    rf"{_CRITERIA}(?:\s\([^()]{{1,60}}\))?\s*:\s*)"
    rf"|(?:^|(?<=[.;]\s))(?P<stated>Inclusion|Exclusion)s?{_CRITERIA}\s(?:include|are|is|were)"
)
# So is what leads in: `Patients with the following conditions are excluded:`.
_LEAD_IN = re.compile(
    r"(?:(?P<out>.*\b(?:excluded|not be eligible|ineligible|excluded (?:if|from)\b.*)|excluded\b.*)"
    r"|.*\b(?:may be eligible|are included|will be included|must have)\b)[^.]{0,60}:$",
    re.IGNORECASE,
)
_LONGEST_LEAD_IN = 150

# A dash between two numbers is a range.
_DASH = re.compile(r"(?<!\d)\s[-–*]+\s+(?=\S)|\s[-–*]+\s+(?=[^\s\d])")
_DOT = re.compile(r"\s*[•●▪■◦]\s*")
_NUMBER = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(?=\S)")


def pieces(text: str) -> Iterator[Piece]:
    """The criteria of an eligibility text in reading order; together with the headings they are all of it."""
    side: Side = "inclusion"
    start = 0
    for line in text.split("\n"):
        marker = MARKER.match(line)
        at = marker.end() if marker else 0
        rest = line[at:]
        heading = _TITLE.match(rest) or _WORD.match(rest)
        if heading:
            side, at = _side(heading["kind"]), at + heading.end()
        elif ("riteri" in rest or "RITERI" in rest) and (named := _QUALIFIED.match(rest)):
            side = _side(named["kind"])
        elif rest.endswith(":") and len(rest) <= _LONGEST_LEAD_IN and (lead := _LEAD_IN.match(rest)):
            side = "exclusion" if lead["out"] else "inclusion"
        titled = heading is not None
        for inline in _INLINE.finditer(line, at):
            yield from _run(text, side, start + at, start + inline.start(), titled=titled)
            side = _side(inline["kind"] or inline["stated"])
            at, titled = (inline.end(), True) if inline["heading"] else (inline.start(), False)
        yield from _run(text, side, start + at, start + len(line), titled=titled)
        start += len(line) + 1


def split_criteria(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inclusion and the exclusion criteria of an eligibility text.

    >>> split_criteria("Inclusion Criteria: 1. adult 2. well Exclusion Criteria:\\n- pregnant")
    (('adult', 'well'), ('pregnant',))
    """
    sides: dict[Side, list[str]] = {"inclusion": [], "exclusion": []}
    for piece in pieces(text or ""):
        sides[piece.side].append((text or "")[piece.start : piece.end])
    return tuple(sides["inclusion"]), tuple(sides["exclusion"])


def _side(kind: str) -> Side:
    """The side that a heading announces; one that announces both is followed by inclusion first."""
    kind = kind.lower()
    both_or_in = kind.startswith(("inclu", "requ", "allow", "elig", "main", "key"))
    return "inclusion" if both_or_in else "exclusion"


def _run(text: str, side: Side, start: int, end: int, *, titled: bool) -> Iterator[Piece]:
    """The items of a paragraph: one, or those of a list that was run together after its heading."""
    segment = text[start:end]
    cuts = _cuts(segment) if titled else [(0, 0)]
    for (_, item_start), (item_end, _) in zip(cuts, [*cuts[1:], (len(segment), 0)], strict=True):
        item = segment[item_start:item_end]
        stripped = item.strip()
        if stripped:
            at = start + item_start + len(item) - len(item.lstrip())
            yield Piece(side, at, at + len(stripped))


def _cuts(segment: str) -> list[tuple[int, int]]:
    """Where items are cut: (end of the one before, start of the next)."""
    numbers: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(segment):
        if int(match[1]) == len(numbers) + 1 and (numbers or match.start() == 0):
            numbers.append(match.span())
    if len(numbers) > 1:
        return numbers
    first = MARKER.match(segment)
    if first is None:
        return [(0, 0)]
    cut = _DOT if first["bullet"] and first["bullet"][0] in "•●▪■◦" else _DASH
    inner = cut.finditer(segment, first.end()) if first["bullet"] else ()
    return [(0, first.end()), *(match.span() for match in inner)]
