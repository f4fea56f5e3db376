"""Errors of the worker.

TrifuseError
└── WorkerError
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class WorkerError(TrifuseError):
    """An error of the worker."""
