"""Memory: bounded by the token budget, and flat over many batches. In processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]

# The texts of one batch would take 64 x 12 x 512 x 512 x 4 bytes = 805 MB for one layer's attention alone.
BATCH_64 = """
import sys
sys.path.insert(0, "benchmarks")
from memory import rss_mib
from pathlib import Path
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.registry import open_model
encoder = OnnxEncoder(open_model("bge-small-en-v1.5"), threads=2)
encoder.encode_documents(["warm"])
before = rss_mib()
assert encoder.encode(["knee " * 510] * 64, role="document").truncated.sum() == 0
# Not `ru_maxrss`: a process inherits its parent's, which holds far more by now.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024 - before)
"""


def _python(*arguments: str) -> Any:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_e8_64_texts_of_512_tokens_stay_under_the_bound() -> None:
    """Two batches of 512 tokens at once: 100 MiB each, whatever the number of texts (docs: token budget)."""
    assert _python("-c", BATCH_64) < 200


@pytest.mark.timeout(600)
def test_e8_memory_is_flat_over_many_batches() -> None:
    """10,000 batches of a tiny random model, 200 of the real one."""
    curves = _python("benchmarks/memory.py", "--json", "--tiny-batches", "10000", "--batches", "200")
    assert {curve["batches"] for curve in curves.values()} == {10_000, 200}
    for name, curve in curves.items():
        assert curve["growth_mib"] < 8, (name, curve)
