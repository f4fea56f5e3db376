"""Errors of the deploy.

TrifuseError
└── DeployError
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class DeployError(TrifuseError):
    """An error of the deploy."""
