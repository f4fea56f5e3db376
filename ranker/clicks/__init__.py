"""What people clicked on for queries like the one at hand: how the click log is read and weighed.

Intake writes it (`worker/clicks`); every Redis key stands in `ranker/keys.py`.
"""

from __future__ import annotations

from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.store import ClickStore

__all__ = ["ClickEvidence", "ClickSettings", "ClickStore"]
