"""A copy of an index beside it: filled, kept in step, checked, and switched to; and back."""

from __future__ import annotations

from trifuse.indexer.copying.back import roll_back
from trifuse.indexer.copying.begin import begin
from trifuse.indexer.copying.check import faults_of
from trifuse.indexer.copying.complete import complete
from trifuse.indexer.copying.copies import Copy, copies_of
from trifuse.indexer.copying.end import abandon, finish
from trifuse.indexer.copying.fill import catch_up
from trifuse.indexer.copying.switch import switch

__all__ = [
    "Copy",
    "abandon",
    "begin",
    "catch_up",
    "complete",
    "copies_of",
    "faults_of",
    "finish",
    "roll_back",
    "switch",
]
