"""`trifuse attach` and `trifuse detach`, as processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

TRIFUSE = Path(sys.executable).with_name("trifuse")
TEXTS = {"title": {"type": "text"}, "body": {"type": "text"}}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(services: Any, tmp_path: Path) -> Run:
    """Runs a command."""

    def ran(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIFUSE, *arguments],
            env={**os.environ, **services.environ()},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return ran


def test_dry_run_writes_nothing(client: OpenSearch, make: Any, run: Run) -> None:
    name = make()
    before = client.indices.get_mapping(index=name)
    done = run("attach", name, "--text", "title,body", "--accept-version-bump", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {"pending", "embedded", "skipped", "failed", "plan"} == set(said)
    assert said["plan"]["mode"] == "in_place"
    assert done.stderr == "encoder: bge-small-en-v1.5-int8\n"
    assert said["plan"]["estimates"]["documents"] == 3
    assert client.indices.get_mapping(index=name) == before
    shown = run("attach", name, "--text", "title,body", "--accept-version-bump", "--dry-run")
    assert "can be attached to, in place" in shown.stdout
    split = run("attach", name, "--text", "title,body", "--sentences", "--dry-run")  # without the consent
    assert split.returncode == 1
    assert "about 6 of 3 documents" in " ".join(split.stdout.split())


def test_refused_is_status_1_with_the_remedy(client: OpenSearch, make: Any, run: Run) -> None:
    name = make(settings={"knn": False})
    before = client.indices.get_mapping(index=name)
    done = run("attach", name, "--text", "title", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["plan"]["refused"] is True
    assert done.stderr.startswith(f"trifuse: can't attach to {name!r} like this, and nothing was written. ")
    assert "; k-NN: --exact" in done.stderr
    assert "--accept-version-bump" in done.stderr
    assert client.indices.get_mapping(index=name) == before


@pytest.mark.parametrize(
    "arguments",
    [["--text", ","], ["--text", "title", "--exact", "--copy"], ["--text", "title", "--alias", "a"]],
)
def test_wrong_usage_is_status_2(run: Run, arguments: list[str]) -> None:
    assert run("attach", "anything", *arguments).returncode == 2


def test_attach_with_sentences_wait_again_detach(
    client: OpenSearch, make: Any, run: Run, worker: Any, docs: Any
) -> None:
    name = make({"properties": {**TEXTS, "year": {"type": "integer"}}})
    attach = ["attach", name, "--text", "title,body", "--accept-version-bump", "--wait", "--json"]
    first = run(*attach, "--sentences", "--filters", "year")
    assert first.returncode == 0, first.stderr
    said = json.loads(first.stdout)
    assert (said["pending"], said["failed"]) == (0, 0)
    assert client.count(index=name, body={"query": {"exists": {"field": "trifuse_vector"}}})["count"] == 3
    assert client.count(index=f"{name}-trifuse-sentences")["count"] == 6
    again = run(*attach)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["embedded"] == 0
    told = run(*[each for each in attach if each != "--json"], "--sentences")
    assert f"sentences are in {name}-trifuse-sentences: `trifuse search" in told.stdout
    other = run("attach", name, "--text", "title", "--accept-version-bump")
    assert other.returncode == 1
    assert "trifuse detach" in other.stderr
    assert run("detach", name, stdin="n\n").returncode == 1
    done = run("detach", name, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 3
    assert not client.indices.exists(index=f"{name}-trifuse-sentences")
    assert client.get(index=name, id="1")["_source"] == docs[1]


def test_copy_again_detach(client: OpenSearch, make: Any, run: Run, worker: Any, docs: Any) -> None:
    """A bare index gets an alias; what is written by it afterwards comes back with the detachment."""
    name = make(settings={"knn": False})
    before = client.indices.get_mapping(index=name)
    done = run("attach", name, "--text", "title,body", "--copy", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["copy"]["switched"] is True
    assert said["plan"]["alias"] == f"{name}-dense"
    vectors = {"query": {"exists": {"field": "trifuse_vector"}}}
    assert client.count(index=f"{name}-dense", body=vectors)["count"] == 3
    assert client.indices.get_mapping(index=name) == before
    again = run("attach", name, "--text", "title,body", "--copy", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["plan"]["name"] == f"{name}-dense"
    client.index(index=f"{name}-dense", id="late", body={"title": "Gout", "body": "Uric acid."})
    gone = run("detach", f"{name}-dense", "--yes", "--json")
    assert gone.returncode == 0, gone.stderr
    assert said["copy"]["index"] in json.loads(gone.stdout)["deleted"]
    assert not client.indices.exists(index=said["copy"]["index"])
    assert list(client.indices.get_alias(name=f"{name}-dense")) == [name]
    assert client.get(index=name, id="late")["_source"] == {"title": "Gout", "body": "Uric acid."}
    client.index(index=name, id="later", body={"title": "Writes are taken again"})


def test_detached_in_another_shell_while_attach_waits(
    client: OpenSearch, make: Any, run: Run, services: Any, tmp_path: Path
) -> None:
    """It ends with what happened, and not by the clock; nobody listens, so that it can only wait."""
    name = make()
    url, _, number = services.broker_url.rpartition("/")
    lonely = {"TRIFUSE_BROKER_URL": f"{url}/{int(number) % 15 + 1}"}
    said = (tmp_path / "said").open("w+", encoding="utf-8")
    waiting = subprocess.Popen(
        [TRIFUSE, "attach", name, "--text", "title", "--accept-version-bump", "--wait"],
        env={**os.environ, **services.environ(), **lonely},
        stdout=subprocess.DEVNULL,
        stderr=said,
    )
    with said:
        deadline = time.monotonic() + 60
        while "trifuse" not in (client.indices.get_mapping(index=name)[name]["mappings"].get("_meta") or {}):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert run("detach", name, "--yes").returncode == 0
        began = time.monotonic()
        assert waiting.wait(timeout=60) == 1
        said.seek(0)
        assert "was detached meanwhile" in said.read()
        assert time.monotonic() - began < 10
