"""What may be asked of a document: the aspects of its evidence, and the text that a query becomes by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trifuse.encoder.errors import AspectUnknown

ASPECTS = ("population", "intervention", "outcome", "comparator")
"""Who took part, what was done, what came of it, and what it was compared with."""

TEXT = "{text}"
"""Where the text of a query stands in an instruction."""

INSTRUCTIONS: Mapping[str, str] = {aspect: f"{aspect}: {TEXT}" for aspect in ASPECTS}
"""The wording that adapters are trained with; each keeps its own."""


def aspect_query(text: str, aspect: str, instructions: Mapping[str, str] = INSTRUCTIONS) -> str:
    """The text of a query that asks for an aspect, in training and in serving alike.

    Args:
        text: the topic: a document's title, or a question; "" asks for the aspect alone.
        instructions: aspect to a wording that holds `{text}`.

    Raises:
        AspectUnknown: there is no wording for it.

    >>> aspect_query("Zinc for colds {a trial}", "outcome", {"outcome": "results of: {text}"})
    'results of: Zinc for colds {a trial}'
    """
    require_aspect(aspect, instructions)
    return instructions[aspect].replace(TEXT, text).strip()


def require_aspect(aspect: str, known: Iterable[str] = ASPECTS) -> None:
    """Refuse an aspect that isn't known.

    Raises:
        AspectUnknown: naming those that are.
    """
    if aspect not in known:
        raise AspectUnknown(f"there is no aspect {aspect!r} here: give one of {', '.join(known)}")
