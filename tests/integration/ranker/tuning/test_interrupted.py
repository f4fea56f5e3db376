"""Faults in the middle of tuning: what was searched and found isn't lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.errors import SearchUnavailable
from trifuse.ranker.profiles.store import PROFILES_INDEX, ProfileStore
from trifuse.ranker.tuning import collect

CLI = "from trifuse.deploy.cli import main; main()"
QUERIES = {f"q{number}": f"word{number}" for number in range(6)}
LEXICAL = Profile(weights={"lexical": 1.0})


@pytest.fixture
def index(own_services: Any) -> Iterator[str]:
    """An index of services that may be stopped."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    with OpenSearch(own_services.opensearch_url) as client:
        client.indices.create(
            index=name, body={"mappings": {"properties": {"title": {"type": "text"}}}, "settings": {}}
        )
        for number in range(30):
            client.index(index=name, id=f"d{number}", body={"title": f"word{number % 6} " + "x " * number})
        client.indices.refresh(index=name)
    yield name
    with OpenSearch(own_services.opensearch_url) as client:
        client.indices.delete(index=name)


def test_a_server_that_dies_while_legs_are_collected(own_services: Any, index: str, tmp_path: Path) -> None:
    body = {"query": {"match": {"title": "{{text}}"}}}

    def collected(progress: Callable[[], None] | None = None) -> dict[str, list[str]]:
        client = OpenSearch(own_services.opensearch_url, max_retries=0, timeout=10)
        with closing(client), closing(HybridRanker(client)) as ranker:
            found = collect(
                ranker, index, QUERIES, profile=LEXICAL, body=body, cache=tmp_path, progress=progress
            )
            return found.rank(LEXICAL)

    done: list[int] = []

    def killing() -> None:
        done.append(1)
        if len(done) == 3:
            own_services.local.stop_opensearch(force=True)

    with pytest.raises(SearchUnavailable, match="OpenSearch didn't answer"):
        collected(killing)
    own_services.local.start_opensearch()
    asked: list[int] = []
    found = collected(lambda: asked.append(1))
    assert len(done) == 3
    assert len(asked) == len(QUERIES)
    assert all(len(documents) == 5 for documents in found.values())
    assert found["q1"] == ["d1", "d7", "d13", "d19", "d25"]  # the shorter, the better


def test_what_was_found_is_shown_though_it_cannot_be_stored(
    own_services: Any, index: str, tmp_path: Path
) -> None:
    (tmp_path / "q.tsv").write_text("".join(f"{id}\t{text}\n" for id, text in QUERIES.items()))
    (tmp_path / "r.txt").write_text("".join(f"q{number} 0 d{number} 1\n" for number in range(6)))
    files = ("--queries", "q.tsv", "--qrels", "r.txt", "--cache", "kept", "--folds", "2")
    command = [sys.executable, "-c", CLI, "tune", index, *files, "--save", "mine", "--json"]
    environ = {**os.environ, **own_services.environ(), "TRIFUSE_ENCODER": ""}
    with OpenSearch(own_services.opensearch_url) as client:
        ProfileStore(client).set(Profile(name="other"))
        client.indices.put_settings(index=PROFILES_INDEX, body={"index.blocks.write": True})
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False
            )
        finally:
            client.indices.delete(index=PROFILES_INDEX)
    assert done.returncode == 1
    assert "the profile 'mine' wasn't stored: OpenSearch refused" in done.stderr
    found = json.loads(done.stdout)
    assert (found["saved"], found["queries"]) == (None, 6)
