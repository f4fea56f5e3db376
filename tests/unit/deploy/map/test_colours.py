"""Colours by the values of a field."""

from __future__ import annotations

from trifuse.deploy.map.colours import MOST, NONE, OTHER, by_value


def test_of_several_values_the_most_frequent_one() -> None:
    """Asthma is met three times, cough twice: a document of both is asthma's."""
    found = by_value([["cough", "asthma"], ["asthma"], ["Asthma"], ["cough"], []])
    assert found.legend == ["asthma", "cough", NONE]
    assert found.of == [0, 0, 0, 1, 2]


def test_a_value_is_shown_as_it_is_spelled_most_often() -> None:
    assert by_value([["HIV"], ["hiv"], ["HIV"]]).legend == ["HIV"]
    assert by_value([["b"], ["B"]]).legend == ["B"]  # as often: the first in order


def test_what_is_rare_is_other() -> None:
    values = [[f"value {number:02}"] for number in range(MOST) for _ in range(2)]
    found = by_value([*values, ["rare"], ["rarer"]])
    assert len(found.legend) == MOST + 1
    assert found.legend[-1] == OTHER
    assert found.of[-2:] == [MOST, MOST]
    assert found.colour(MOST) != found.colour(0)


def test_colours_are_told_apart() -> None:
    found = by_value([[f"value {number}"] for number in range(MOST)])
    assert len({found.colour(place) for place in range(MOST)}) == MOST
