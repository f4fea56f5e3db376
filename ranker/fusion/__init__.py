"""Scores of several legs to one: pure NumPy, any number of legs."""

from __future__ import annotations

__all__: list[str] = []
