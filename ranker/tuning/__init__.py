"""Weights and settings chosen by judgements, offline, with honest held-out numbers."""

from __future__ import annotations

__all__: list[str] = []
