"""Errors of the worker.

TrifuseError
└── WorkerError
    ├── BrokerUnsafe    the broker may throw messages away
    └── ClickLogError   trifuse.worker.clicks.errors
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class WorkerError(TrifuseError):
    """An error of the worker."""


class BrokerUnsafe(WorkerError):
    """The broker may throw messages away: its `maxmemory-policy` isn't `noeviction`."""
