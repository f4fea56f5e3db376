"""`trifuse sync`, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.mapping import index_body

TRIFUSE = Path(sys.executable).with_name("trifuse")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(services: Any) -> Run:
    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIFUSE, "sync", *arguments],
            env=os.environ | services.environ() | environ,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def titles(client: OpenSearch, index_name: str, encoder: Any) -> str:
    """An index of three titles and a document without one."""
    space = Space(encoder.space, TextTemplate(("title",)))
    client.indices.create(
        index=index_name, body=index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    )
    for number, title in enumerate(["The lighthouse", "The harbour", "The quay", ""]):
        client.index(index=index_name, id=str(number), body={"title": title})
    return index_name


@pytest.mark.usefixtures("worker")
def test_waiting_ends_with_everything_embedded_and_a_second_run_finds_nothing(run: Run, titles: str) -> None:
    done = run(titles, "--wait", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"pending": 0, "embedded": 3, "skipped": 1, "failed": 0}
    assert titles in done.stderr  # the bar
    done = run(titles, "--wait", "--json")
    assert json.loads(done.stdout) == {"pending": 0, "embedded": 0, "skipped": 4, "failed": 0}
    done = run(titles)
    assert (done.returncode, done.stdout) == (0, "pending 0, embedded 0, nothing to do for 4, failed 0\n")


def test_nobody_listening_is_a_note_without_waiting_and_an_error_with(
    run: Run, titles: str, lonely_broker: str
) -> None:
    nobody = {"TRIFUSE_BROKER_URL": lonely_broker}
    done = run(titles, "--json", **nobody)
    assert done.returncode == 0
    assert json.loads(done.stdout)["pending"] == 4
    assert "no worker is listening on the queue 'trifuse.bge" in done.stderr
    done = run(titles, "--wait", "--json", **nobody)
    assert done.returncode == 1
    assert json.loads(done.stdout)["pending"] == 4
    assert "4 documents are still pending" in done.stderr
    assert done.stderr.count("nothing moves yet: no worker is listening on the queue 'trifuse.bge") == 1


def test_what_is_missing_is_said_in_one_sentence(run: Run, index_name: str, titles: str) -> None:
    done = run(f"{index_name}-none")
    assert done.returncode == 1
    assert "there is no index" in done.stderr
    done = run(titles, TRIFUSE_BROKER_URL="redis://127.0.0.1:1/0")
    assert done.returncode == 1
    assert "can't be reached" in done.stderr
    assert "Traceback" not in done.stderr
    assert run().returncode == 2
