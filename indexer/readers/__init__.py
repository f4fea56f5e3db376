"""Readers of trial records: every format, one stream of `Record` and `Rejection`."""

from __future__ import annotations

from trifuse.indexer.readers.read import read_trials
from trifuse.indexer.readers.records import Record, Rejection

__all__ = ["Record", "Rejection", "read_trials"]
