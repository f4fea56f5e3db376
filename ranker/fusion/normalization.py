"""What a normalization is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trifuse.ranker.types import Floats


@dataclass(frozen=True)
class Scaling:
    """Settings of a normalization; each technique reads its own.

    Args:
        temperature: above 0, for `softmax`.
        bounds: lowest and highest score that the range spans at least, for `min_max`; None leaves an end to
            the hits.
    """

    temperature: float = 1.0
    bounds: tuple[float | None, float | None] = (None, None)


DEFAULT_SCALING = Scaling()

Normalization = Callable[[Floats, Scaling], Floats]
"""(n,) finite raw scores of one leg to (n,) comparable ones: a better raw score never gets a lower one."""
