"""Pairs for the local loss (Wang and Sun 2022, section 3.3): a text whose entities are exchanged.

The positive says the same or nearly so, the negative something else in almost the same words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trifuse.encoder.training.entities.source import Entity, EntitySource

_SPACES = re.compile(" {2,}")


class Swapped(NamedTuple):
    """A text, one that means the same, and one that doesn't."""

    text: str
    positive: str
    negative: str


def swap(text: str, source: EntitySource, rng: random.Random) -> Swapped | None:
    """A pair made of one text; None where no entity of it is known, or none can be exchanged.

    Positive: one entity is replaced by its canonical name, or by a sibling. Negative: one, the same or
    another, is deleted, or replaced by a dissimilar one. A text that names an entity several times gets all
    its mentions exchanged: otherwise it would still speak of what was taken out.
    """
    mentions = _by_concept(source.find(text))
    order = list(mentions)
    rng.shuffle(order)
    positive = _first(_similar(text, mentions[one], source, rng) for one in order)
    if positive is None:
        return None
    rng.shuffle(order)
    negative = _first(_other(text, mentions[one], source, rng) for one in order)
    return None if negative is None else Swapped(text, positive, negative)


def _by_concept(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    mentions: dict[str, list[Entity]] = {}
    for entity in entities:
        mentions.setdefault(entity.concept, []).append(entity)
    return mentions


def _first(texts: Iterable[str | None]) -> str | None:
    return next((text for text in texts if text is not None), None)


def _similar(text: str, mentions: Sequence[Entity], source: EntitySource, rng: random.Random) -> str | None:
    said = {mention.name.casefold() for mention in mentions}
    canonical = source.canonical(mentions[0])
    kin = [name for name in source.siblings(mentions[0]) if name.casefold() not in said]
    if canonical and said != {canonical.casefold()} and (not kin or rng.random() < 0.5):
        return _replaced(text, mentions, canonical)
    return _replaced(text, mentions, rng.choice(kin)) if kin else None


def _other(text: str, mentions: Sequence[Entity], source: EntitySource, rng: random.Random) -> str | None:
    deleted = _SPACES.sub(" ", _replaced(text, mentions, "")).strip()
    left = any(letter.isalnum() for letter in deleted)
    name = source.dissimilar(mentions[0], rng)
    if name is not None and (not left or rng.random() < 0.5):
        return _replaced(text, mentions, name)
    return deleted if left else None


def _replaced(text: str, mentions: Sequence[Entity], name: str) -> str:
    pieces: list[str] = []
    end = 0
    for mention in mentions:
        pieces += [text[end : mention.start], name]
        end = mention.end
    return "".join([*pieces, text[end:]])
