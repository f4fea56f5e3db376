"""Another encoder for an index that has vectors: beside the present ones, until the switch."""

from __future__ import annotations

from trifuse.indexer.reembed.in_place import (
    Filled,
    abandon,
    begin,
    fill,
    finish,
    left_in_old_space,
    roll_back,
    stage_of,
    switch,
)
from trifuse.indexer.reembed.stage import Stage

__all__ = [
    "Filled",
    "Stage",
    "abandon",
    "begin",
    "fill",
    "finish",
    "left_in_old_space",
    "roll_back",
    "stage_of",
    "switch",
]
