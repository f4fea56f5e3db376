"""Records into OpenSearch: readers, mappings, bulk writes, loads, and what is pending."""

from __future__ import annotations

from trifuse.indexer.bulk import Action, BulkOutcome, bulk
from trifuse.indexer.load import load
from trifuse.indexer.mapping import trial_mapping
from trifuse.indexer.readers import read_trials
from trifuse.indexer.report import LoadReport
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.trial import Trial

__all__ = [
    "Action",
    "BulkOutcome",
    "LoadReport",
    "SyncReport",
    "Trial",
    "bulk",
    "load",
    "read_trials",
    "sync",
    "trial_mapping",
]
