"""Made-up trials of organs, and a source of entities that knows organs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

ORGANS = ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood")


class Organs:
    """Pairs of organs are siblings: `heart` and `lung`, `liver` and `kidney`."""

    def find(self, text: str) -> list[Any]:
        """Each organ's first mention."""
        from trifuse.encoder.training.entities import Entity

        found = [(text.find(organ), organ) for organ in ORGANS if organ in text]
        return [Entity(start, start + len(organ), organ, organ) for start, organ in sorted(found)]

    def canonical(self, entity: Any) -> str | None:
        """Its own name."""
        return str(entity.name)

    def siblings(self, entity: Any) -> list[str]:
        """The other one of the pair."""
        return [ORGANS[ORGANS.index(entity.concept) ^ 1]]

    def dissimilar(self, entity: Any, rng: random.Random) -> str | None:
        """An organ of another pair."""
        return rng.choice([organ for organ in ORGANS if organ not in (entity.name, *self.siblings(entity))])


@pytest.fixture
def organs() -> Organs:
    """A source of entities."""
    return Organs()


@pytest.fixture
def trials() -> list[Any]:
    """Two trials of each organ's disease, which say different things of it; the first ones lack parts."""
    from trifuse.encoder.training.trial2vec import TrialParts

    whole = [
        TrialParts(
            f"NCT{number}",
            {
                "title": f"{kind} of {organ}",
                "condition": f"{organ} disease",
                "outcome": f"the {organ}",
                "context": f"a trial {kind} of the {organ}",
            },
            (f"{organ} disease",),
        )
        for number, (organ, kind) in enumerate(
            (organ, kind) for organ in ORGANS for kind in ("treatment", "aspirin")
        )
    ]
    for number, kept in enumerate((("title",), ("condition",), ("title", "context"))):
        parts = {name: whole[number].parts[name] for name in kept}
        whole[number] = whole[number]._replace(parts=parts)
    return whole


@pytest.fixture
def recipe() -> Callable[..., Any]:
    """`recipe(**options)`: SMALL's for tiny trials."""

    def make(**options: Any) -> Any:
        from trifuse.encoder.training.trial2vec import SMALL

        tiny = {"steps": 8, "warmup_steps": 1, "batch": 8, "dev_every": 2, "patience": 99}
        return replace(SMALL, **(tiny | {"key_tokens": 8, "context_tokens": 16} | options))

    return make
