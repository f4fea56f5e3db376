"""Profiles: the settings of a ranking, their rules by query, and where they are stored (`store`)."""

from __future__ import annotations

from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import Rule

__all__ = ["Profile", "Rule"]
