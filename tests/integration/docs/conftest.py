"""What the documentation shows, run: shell and Python blocks, with the names that it has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.local.up import down
from trifuse.encoder.fetch import cache_dir
from trifuse.ranker import ProfileStore
from trifuse.ranker.errors import ProfileMissing

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Runner:
    """Runs blocks where `trials` is an index of the test's own, and `mine` a profile of its own."""

    environ: dict[str, str]
    names: dict[str, str]
    folder: Path

    def sh(self, block: str) -> str:
        """What the block prints; any command of it that fails is a failure."""
        return self._run(["bash", "-euo", "pipefail", "-c", self._named(block)])

    def python(self, blocks: Sequence[str]) -> str:
        """What the blocks print, one after the other in one process; warnings are errors."""
        return self._run([sys.executable, "-W", "error", "-c", self._named("\n".join(blocks))])

    def _named(self, text: str) -> str:
        for name, own in self.names.items():
            text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", own, text)
        return text

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout


@pytest.fixture
def read_blocks() -> Callable[[Path], list[tuple[str, str]]]:
    """Gives language (sh or python) and content of a page's blocks, in their order."""
    return lambda page: [
        (kind, text) for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind in ("sh", "python")
    ]


@pytest.fixture
def runner(services: Any, client: OpenSearch, index_name: str, tmp_path: Path) -> Iterator[Runner]:
    """A runner over the bundled sample, in a folder that looks like a clone; what it made is deleted."""
    home: Path = services.folder / f"docs-{uuid.uuid4().hex[:6]}"
    home.mkdir(parents=True)
    for name in ("docs", "deploy"):
        (tmp_path / name).symlink_to(ROOT / name)
    profile = f"test-{uuid.uuid4().hex[:8]}"
    urls = {
        "http://localhost:9200": services.opensearch_url,
        "redis://localhost:6379": services.redis_url,
    }
    environ = (
        os.environ
        | services.environ()
        | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TRIFUSE_HOME": str(home),
            "TRIFUSE_CACHE": str(cache_dir()),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "COLUMNS": "100",
        }
    )
    yield Runner(environ, {**urls, "trials": index_name, "mine": profile}, tmp_path)
    down(home)
    with suppress(ProfileMissing):
        ProfileStore(client).delete(profile)
