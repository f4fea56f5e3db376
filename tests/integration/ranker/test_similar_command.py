"""`trifuse similar` as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SIMILAR = "from trifuse.deploy.cli import main; main()"


@pytest.fixture
def run(services: Any, make_index: Callable[..., str], tmp_path: Path) -> Callable[..., Any]:
    """Compares documents of an index whose encoder nobody has."""
    index = make_index(
        [
            {"_id": "1", "title": "aspirin after stroke", "tenant": "a", "angle": 0},
            {"_id": "2", "title": "stroke [care]", "tenant": "b", "angle": 60},
            {"_id": "3", "title": "asthma", "tenant": "b", "angle": 90},
            {"_id": "4", "title": "not embedded", "tenant": "b"},
        ]
    )

    def invoke(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SIMILAR, "similar", index, *options]
        environ = {**services.environ(), "PATH": "", "COLUMNS": "100", "HOME": str(tmp_path)}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    return invoke


def test_a_response_and_nothing_else_on_stdout(run: Callable[..., Any]) -> None:
    done = run("1", "--filter", '{"term": {"tenant": "b"}}', "--size", "1", "--json")
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["2"]
    assert response["hits"]["total"] == {"value": 1, "relation": "gte"}
    assert response["trifuse"]["filter"]["given"] == {"term": {"tenant": "b"}}


def test_a_table_for_people(run: Callable[..., Any]) -> None:
    done = run("1")
    assert done.returncode == 0, done.stderr
    assert "like 1: 2 documents" in done.stdout
    rows = [line for line in done.stdout.splitlines() if "stroke [care]" in line]
    assert len(rows) == 1 and "0.5000" in rows[0]
    assert "aspirin" not in done.stdout


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ((), 2, "give either the id of a document or the parts"),
        (("1", "--title", "x"), 2, "give either the id of a document or the parts"),
        (("1", "--filter", "nothing.json"), 2, "neither a JSON object nor a file"),
        (("1", "--size", "0"), 2, "--size"),
        (("1", "--by", "title"), 2, "no vectors of the part 'title' by itself"),
        (("--text", "title"), 2, "give PART=TEXT"),
        (("4",), 1, "'4' has no vector in the field 'trifuse_vector'"),
        (("nobody",), 1, "has no document 'nobody'"),
        (("1", "--filter", '{"term": {"tenat": "b"}}'), 0, "no field 'tenat' in the mapping: did you mean"),
        (("--condition", "asthma"), 1, "the encoder 'tiny' isn't known here"),
    ],
)
def test_what_is_wrong_is_said(
    run: Callable[..., Any], options: tuple[str, ...], status: int, message: str
) -> None:
    done = run(*options)
    assert done.returncode == status, done.stderr
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
