"""The same ranking by the server's own `hybrid` query."""

from __future__ import annotations

__all__: list[str] = []
