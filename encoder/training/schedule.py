"""The learning rate over a run."""

from __future__ import annotations

import math


def learning_rate_factor(step: int, warmup_steps: int, steps: int) -> float:
    """What the learning rate is multiplied by at a step, from 0: a linear rise, then half a cosine down to 0.

    >>> [round(learning_rate_factor(step, 2, 6), 3) for step in range(7)]
    [0.0, 0.5, 1.0, 0.854, 0.5, 0.146, 0.0]
    """
    if step < warmup_steps:
        return step / warmup_steps
    if step >= steps:
        return 0.0
    return (1 + math.cos(math.pi * (step - warmup_steps) / (steps - warmup_steps))) / 2
