"""The benchmarks are scripts that import one another by bare names."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[3] / "benchmarks")
if FOLDER not in sys.path:
    sys.path.append(FOLDER)
