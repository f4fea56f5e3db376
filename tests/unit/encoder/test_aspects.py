"""The text of a query that asks for an aspect."""

from __future__ import annotations

import pytest

from trifuse.encoder.aspects import ASPECTS, INSTRUCTIONS, aspect_query
from trifuse.encoder.errors import AspectUnknown


def test_every_aspect_has_a_wording_with_a_place_for_the_text() -> None:
    assert tuple(INSTRUCTIONS) == ASPECTS
    assert all(wording.count("{text}") == 1 for wording in INSTRUCTIONS.values())
    assert len(set(INSTRUCTIONS.values())) == len(ASPECTS)


def test_the_text_is_put_in_as_it_is() -> None:
    wording = {"outcome": "results: {text}"}
    assert aspect_query("Zinc {aspect} {0} {text}", "outcome", wording) == "results: Zinc {aspect} {0} {text}"


def test_without_a_text_the_aspect_alone_is_asked_for() -> None:
    assert aspect_query("", "outcome", {"outcome": "results: {text}"}) == "results:"


def test_an_unknown_aspect_is_refused() -> None:
    with pytest.raises(AspectUnknown, match=r"no aspect 'cost' here: give one of population, intervention, "):
        aspect_query("Zinc", "cost")
    with pytest.raises(AspectUnknown, match=r"no aspect 'population' here: give one of outcome$"):
        aspect_query("Zinc", "population", {"outcome": "{text}"})
