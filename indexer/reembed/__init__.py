"""Another encoder for an index that has vectors: beside the present ones, until the switch."""

from __future__ import annotations

from trifuse.indexer.reembed.filled import Filled
from trifuse.indexer.reembed.left import left_in_old_space
from trifuse.indexer.reembed.stage import Stage
from trifuse.indexer.reembed.standing import stage_of
from trifuse.indexer.reembed.steps import (
    abandon,
    begin,
    fill,
    finish,
    roll_back,
    switch,
)

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
