"""Errors of the ranker.

TrifuseError
└── RankerError
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class RankerError(TrifuseError):
    """An error of the ranker."""
