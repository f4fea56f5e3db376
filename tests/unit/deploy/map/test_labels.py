"""Names in a picture that don't lie on each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from trifuse.deploy.map.labels import nudges


def test_the_first_stay_and_others_go_to_the_nearest_free_place() -> None:
    """Of one size, all at one place: the second goes up, the third down; the eighth has no room."""
    assert nudges([(0, 0, 10, 2)] * 8) == [0, 2, -2, 4, -4, 6, -6, None]


def test_edges_that_touch_are_no_overlap() -> None:
    assert nudges([(0, 0, 10, 2), (10, 0, 20, 2), (0, 2, 10, 4)]) == [0, 0, 0]


def test_what_is_left_out_takes_no_room() -> None:
    """The second, of height 1, finds no place in what the first fills; the third stands where it would."""
    assert nudges([(0, -9, 10, 9), (9, 0, 30, 1), (20, 0, 30, 1)]) == [0, None, 0]


def test_none() -> None:
    assert nudges([]) == []


def test_names_of_a_picture_are_moved_apart_and_the_last_ones_hidden() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from trifuse.deploy.map.picture import _set_apart

    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.add_subplot()
    axes.scatter([0, 1], [0, 1])
    names = [axes.text(0.5, 0.5, f"cluster {number}", ha="center", va="center") for number in range(8)]
    figure.draw_without_rendering()
    _set_apart(names)
    figure.draw_without_rendering()
    assert [text.get_visible() for text in names] == [True] * 7 + [False]
    assert names[0].get_position() == pytest.approx((0.5, 0.5))
    boxes = [text.get_window_extent() for text in names[:7]]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(abs(box.y0 - boxes[0].y0) < 4 * (boxes[0].height + 8) for box in boxes)
