"""Where names stand in a picture, so that none lies on another. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""

_STEPS = (0, 1, -1, 2, -2, 3, -3)
"""Up or down by so many heights at most: farther off a name would be taken for a neighbour's."""


def nudges(boxes: Sequence[Box]) -> list[float | None]:
    """How far each box goes up so that it touches none before it; None where there is no room near it.

    Args:
        boxes: the most important first; these stay where they are if they can.

    >>> nudges([(0, 0, 9, 2), (5, 1, 14, 3), (20, 0, 29, 2)])
    [0.0, 2.0, 0.0]
    """
    placed: list[Box] = []
    found: list[float | None] = []
    for left, bottom, right, top in boxes:
        height = top - bottom
        tried = ((left, bottom + step * height, right, top + step * height) for step in _STEPS)
        free = next((box for box in tried if not any(_overlap(box, other) for other in placed)), None)
        if free is not None:
            placed.append(free)
        found.append(None if free is None else float(free[1] - bottom))
    return found


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
