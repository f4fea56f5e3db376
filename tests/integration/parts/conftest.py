"""An encoder of parts of a few kB, the commands as processes of their own, and a quick way to embed."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import Encoder, load_encoder
from trifuse.encoder.spaces import Space
from trifuse.indexer.hints import Enqueue, Hint
from trifuse.indexer.sync import SyncReport, sync
from trifuse.worker.embedding import embed

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"
TRIFUSE = Path(sys.executable).with_name("trifuse")

# A word a direction: what a document is of can be read off its vector.
WORDS = {"asthma": (6.0, 0.0, 0.0), "aspirin": (0.0, 6.0, 0.0), "pain": (0.0, 0.0, 6.0)}


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, make_parts_model: Callable[..., Path]) -> Path:
    """The folder of an encoder of parts; what its vectors are is said in benchmarks/tiny_parts.py."""
    folder = tmp_path_factory.mktemp("parts") / "tiny-parts"
    return make_parts_model(folder, WORDS, normalized=True, similarity="cosine")


@pytest.fixture(scope="session")
def parts_encoder(model: Path) -> Encoder:
    """The same encoder in this process."""
    return load_encoder(str(model))


@pytest.fixture(scope="session")
def tiny_model() -> Callable[..., Path]:
    """`tiny_model(folder, words, **description)`: an encoder of plain texts, see benchmarks/tiny_model.py."""
    builder: Callable[..., Path] = runpy.run_path(str(BUILDER))["make_model"]
    return builder


@pytest.fixture
def run(services: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run("load", ...)`: a command, in a folder of its own."""

    def invoke(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIFUSE, *arguments],
            env=os.environ | services.environ() | environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return invoke


@pytest.fixture
def done(run: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """`done("load", ...)`: the JSON of a command that goes well."""

    def invoke(*arguments: str, **environ: str) -> Any:
        ended = run(*arguments, "--json", **environ)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return invoke


@pytest.fixture
def enqueue_for(client: OpenSearch) -> Callable[..., Enqueue]:
    """`enqueue_for(encoder, ...)`: embeds at once what is queued, each by its encoder."""

    def made(*encoders: Encoder) -> Enqueue:
        by_space = {encoder.space.id: encoder for encoder in encoders}

        def enqueue(index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
            embed(client, by_space[space.encoder.id], index, field, ids)

        return enqueue

    return made


@pytest.fixture
def embed_all(client: OpenSearch, enqueue_for: Callable[..., Enqueue]) -> Callable[..., SyncReport]:
    """`embed_all(index, encoder, ...)`: embeds what a sync queues, each by its encoder, and counts again."""

    def embedded(index: str, *encoders: Encoder) -> SyncReport:
        sync(client, index, enqueue_for(*encoders))
        client.indices.refresh(index=f"{index}*")  # its sentences as well
        return sync(client, index, lambda *_: pytest.fail("something is pending still"))

    return embedded
