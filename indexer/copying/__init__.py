"""A copy of an index beside it: filled, kept in step, checked, and switched to; and back."""

from __future__ import annotations

from trifuse.indexer.copying.begin import begin
from trifuse.indexer.copying.copies import Copy, copies_of
from trifuse.indexer.copying.fill import Caught, catch_up

__all__ = ["Caught", "Copy", "begin", "catch_up", "copies_of"]
