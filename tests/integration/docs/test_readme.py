"""The README's Python, run as it stands on the made-up sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

README = Path(__file__).parents[3] / "README.md"


def test_its_python_in_one_process(runner: Any, read_blocks: Any) -> None:
    runner.sh("trifuse demo --index trials")
    blocks = [block for kind, block in read_blocks(README) if kind == "python"]
    assert len(blocks) == 2
    said = runner.python(blocks)
    assert "'lexical': {" in said
    assert "difference from bm25" in said
    assert "tuned, held out" in said
    assert (runner.folder / "evaluation.png").exists()
    assert (runner.folder / "tuning.png").exists()
