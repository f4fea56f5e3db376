"""Errors of the indexer.

TrifuseError
└── IndexerError
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class IndexerError(TrifuseError):
    """An error of the indexer."""
