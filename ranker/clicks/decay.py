"""How fast clicks fade: by half with every half-life (`records` adds up what has faded)."""

from __future__ import annotations

HALF_LIFE_DAYS = 90.0
MIN_HALF_LIFE_DAYS = 1.0 / 24.0
"""An hour: times are kept in whole seconds."""
