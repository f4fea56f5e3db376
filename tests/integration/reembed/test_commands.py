"""`trifuse reembed` with real workers: one for each encoder."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import Space, serving_field, spaces_in_meta
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.copying import begin

TRIFUSE = Path(sys.executable).with_name("trifuse")
E5 = "e5-small-v2-int8"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(services: Any) -> Run:
    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIFUSE, *arguments],
            env=os.environ | services.environ() | environ,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return run


@pytest.fixture
def trials(run: Run, index_name: str, worker: Any, tmp_path: Path) -> str:
    """Three trials in the space of the default encoder."""
    path = tmp_path / "trials.jsonl"
    titles = ["Aspirin after stroke", "Insulin in diabetes", "Exercise and asthma"]
    lines = [
        json.dumps({"nct_id": f"NCT{number:08}", "brief_title": title})
        for number, title in enumerate(titles, 1)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    done = run("load", str(path), "--index", index_name)
    assert done.returncode == 0, done.stderr
    done = run("sync", index_name, "--wait")
    assert done.returncode == 0, done.stderr
    return index_name


def test_the_model_of_a_live_index_is_changed_and_changed_back(
    run: Run, client: OpenSearch, trials: str, worker_factory: Callable[..., Any], tmp_path: Path
) -> None:
    worker_factory(TRIFUSE_ENCODER=E5)
    done = run("reembed", trials, "--encoder", E5, "--no-switch", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "pending": 0,
        "embedded": 3,
        "skipped": 0,
        "failed": 0,
        "step": "filling",
        "serving": "trifuse_vector",
        "encoder": "bge-small-en-v1.5-int8",
        "failures": [],
    }
    done = run("reembed", trials)  # goes on where it was, and switches
    assert done.returncode == 0, done.stderr
    assert f"trifuse reembed {trials} --rollback" in done.stdout

    # a load goes by the new space now, and knows what it has
    path = tmp_path / "trials.jsonl"
    done = run("load", str(path), "--index", trials, "--json", "--encoder", E5)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unchanged"] == 3
    done = run("load", str(path), "--index", trials)
    assert done.returncode == 1
    assert "use the encoder 'e5-small-v2-int8'" in done.stderr

    done = run("reembed", trials, "--rollback")
    assert done.returncode == 0, done.stderr
    done = run("reembed", trials, "--switch", "--json")
    assert json.loads(done.stdout)["serving"] == "trifuse_vector_2"
    done = run("reembed", trials, "--finish")
    assert done.returncode == 0, done.stderr
    assert "took the old vectors out of 3 documents" in done.stdout


def test_sentences_and_profiles_that_stay_behind_are_named_with_what_to_do(
    run: Run, client: OpenSearch, trials: str, worker_factory: Callable[..., Any], tmp_path: Path
) -> None:
    """The commands that are printed are run as they stand there."""
    worker_factory(TRIFUSE_ENCODER=E5)
    alias, mine = f"{trials}-alias", f"p-{trials}"
    path = tmp_path / "trials.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines = [json.dumps(record | {"brief_summary": "One sentence each."}) for record in records]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run("load", str(path), "--index", trials, "--sentences").returncode == 0
    done = run("sync", trials, "--wait")
    assert done.returncode == 0, done.stderr
    client.indices.put_alias(index=trials, name=alias)
    settings = '{"weights": {"lexical": 1, "dense": 1}, "vector_field": "trifuse_vector"}'
    assert run("profile", "set", mine, "--from", settings).returncode == 0
    try:
        done = run("reembed", alias, "--encoder", E5)
        assert done.returncode == 0, done.stderr
        assert f"the stored profiles {mine} name the vector field 'trifuse_vector'" in done.stderr
        assert "while others go by 'trifuse_vector_2'" in done.stderr
        _paste(run, done.stderr, f"profile show {mine}", tmp_path)
    finally:
        run("profile", "delete", mine, "--yes")

    sentences = f"{trials}-trifuse-sentences"
    assert _printed(done.stderr, "reembed") == f"reembed {sentences} --encoder {E5}"
    done = run(*shlex.split(_printed(done.stderr, "reembed")))
    assert done.returncode == 0, done.stderr
    assert _serving(client, sentences) == (E5, 3)
    done = run("reembed", alias, "--rollback")
    assert "profiles" not in done.stderr  # it is deleted
    assert _printed(done.stderr, "reembed") == f"reembed {sentences} --rollback"
    done = run(*shlex.split(_printed(done.stderr, "reembed")))
    assert done.returncode == 0, done.stderr
    assert _serving(client, sentences) == ("bge-small-en-v1.5-int8", 3)
    assert run("reembed", alias, "--abandon").stderr == ""


def _printed(stderr: str, what: str) -> str:
    """The command about sentences that a warning names."""
    (found,) = re.findall(rf"the sentences .*: `trifuse ({what} [^`]*)` changes them", stderr)
    return str(found)


def _paste(run: Run, stderr: str, what: str, tmp_path: Path) -> None:
    """Show the profile, edit it, and set it, by the commands that were printed."""
    shown, stored = re.findall(r"`trifuse (profile [^`]*)`", stderr)
    show, _, name = shown.partition(" > ")
    assert show == what
    done = run(*shlex.split(show))
    assert done.returncode == 0, done.stderr
    path = tmp_path / name
    path.write_text(json.dumps({**json.loads(done.stdout), "vector_field": None}))
    done = run(*shlex.split(stored.replace(name, str(path))))
    assert done.returncode == 0, done.stderr


def _serving(client: OpenSearch, index: str) -> tuple[str, int]:
    """The encoder that an index is served by, and how many documents have its vector."""
    meta = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
    field = serving_field(meta)
    assert field is not None
    client.indices.refresh(index=index)
    found = client.count(index=index, body={"query": {"exists": {"field": field}}})
    return spaces_in_meta(meta)[field].encoder.encoder, found["count"]


def test_what_cant_be_done_is_said_in_one_sentence(run: Run, trials: str, lonely: str) -> None:
    done = run("reembed", trials)
    assert done.returncode == 2
    assert "name the new encoder" in done.stderr
    done = run("reembed", trials, "--switch", "--rollback")
    assert done.returncode == 2
    assert "one step at a time" in done.stderr
    done = run("reembed", trials, "--switch")
    assert done.returncode == 1
    assert "begin with --encoder" in done.stderr
    done = run("reembed", f"{trials}-none", "--rollback")
    assert done.returncode == 1
    assert f"there is no index or alias '{trials}-none'" in done.stderr
    done = run("reembed", trials, "--encoder", E5, TRIFUSE_BROKER_URL=lonely)
    assert done.returncode == 1
    assert "no worker is listening on the queue 'trifuse.e5-small-v2-int8" in done.stderr
    assert f"trifuse reembed {trials} --switch" in done.stdout  # the new vectors aren't served


@pytest.fixture
def lonely(services: Any) -> str:
    """A database of the same Redis that no worker takes messages from."""
    url, _, number = services.broker_url.rpartition("/")
    return f"{url}/{int(number) % 15 + 1}"


def test_both_spaces_are_compared_before_the_switch(
    run: Run, client: OpenSearch, trials: str, worker_factory: Callable[..., Any], tmp_path: Path
) -> None:
    queries, qrels = tmp_path / "queries.tsv", tmp_path / "qrels.txt"
    queries.write_text("q1\tstroke\nq2\tasthma\n", encoding="utf-8")
    qrels.write_text("q1 0 NCT00000001 1\nq2 0 NCT00000003 1\n", encoding="utf-8")
    given = ("--queries", str(queries), "--qrels", str(qrels), "--profile", "dense=1", "--measures", "RR")
    done = run("evaluate", trials, *given, "--candidate")
    assert done.returncode == 1
    assert f"trifuse reembed {trials} --encoder NAME --no-switch" in done.stderr

    worker_factory(TRIFUSE_ENCODER=E5)
    alias = f"{trials}-alias"
    client.indices.put_alias(index=trials, name=alias)
    for name in (trials, alias):  # in place, then by a copy
        done = run("reembed", name, "--encoder", E5, "--no-switch")
        assert done.returncode == 0, done.stderr
        assert (f"{trials} is copied to" in done.stderr) == (name == alias)
        done = run("evaluate", name, *given, "--candidate", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        # three documents, of which the one with the query's own word is nearest by either model
        means = [profile["RR"]["mean"] for profile in found["profiles"].values()]
        assert means == [1.0, 1.0]
        assert found["candidate"]["encoder"] == E5
        assert found["candidate"]["field"] != "trifuse_vector"
        assert found["candidate"]["pending"] == 0
        done = run("reembed", name, "--abandon")
        assert done.returncode == 0, done.stderr


def test_the_copy_of_an_index_that_is_gone_is_given_up(run: Run, client: OpenSearch, index_name: str) -> None:
    """By its own name, for nothing else leads to it; it is said once, without an error."""
    source, alias = f"{index_name}-v1", f"{index_name}-live"
    client.indices.create(index=source, body={"aliases": {alias: {}}})
    space = Space(describe_encoder(E5), TextTemplate(("title",)))
    copy = begin(client, source, alias=alias, space_field=("trifuse_vector", space))
    client.indices.delete(index=source)
    done = run("reembed", copy.index, "--abandon", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"pending": 0, "embedded": 0, "skipped": 0, "failed": 0, "step": "none"}
    assert not client.indices.exists(index=copy.index)
