"""Which trials are learned from, which the layer is tuned on, and which it is judged by."""

from __future__ import annotations

from typing import Literal

from trifuse.deploy.tenths import tenth_of

Split = Literal["train", "valid", "test"]

SPLITS: tuple[Split, ...] = ("train", "valid", "test")

_TENTHS: tuple[Split, ...] = ("train",) * 7 + ("valid",) + ("test",) * 2


def split_of(trial: str) -> Split:
    """The part that a trial belongs to, by its id alone: 70, 10 and 20 % of all trials.

    The tenths are those by which `trifuse train trial2vec` holds trials out, so that what is judged here was
    never learned from there.

    >>> split_of("NCT00000102")
    'test'
    """
    return _TENTHS[tenth_of(trial)]
