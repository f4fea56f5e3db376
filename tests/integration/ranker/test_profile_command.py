"""`trifuse profile` on a real cluster, and what it stores as `search` and `evaluate` use it."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker.errors import ProfileMissing
from trifuse.ranker.profiles.store import PROFILES_INDEX, ProfileStore

TRIFUSE = "from trifuse.deploy.cli import main; main()"


@pytest.fixture
def name(client: OpenSearch) -> Iterator[str]:
    """A name that no stored profile has; deleted after the test."""
    made = f"test-{uuid.uuid4().hex[:8]}"
    yield made
    with suppress(ProfileMissing):
        ProfileStore(client).delete(made)


@pytest.fixture
def trifuse(services: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", TRIFUSE, *arguments]
        environ = {**services.environ(), "PATH": "", "COLUMNS": "100"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    return run


def test_a_profile_from_its_first_version_to_its_end(trifuse: Callable[..., Any], name: str) -> None:
    def ok(*arguments: str) -> Any:
        done = trifuse("profile", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first = ok("set", name, "--from", "lexical=0.4,dense=0.6", "--note", "by hand")
    assert (first["name"], first["version"], first["current"], first["note"]) == (name, 1, True, "by hand")
    body = '{"query": {"match": {"title": "{{text}}"}}}'
    second = ok("set", name, "--from", '{"weights": {"lexical": 1}, "depth": 50}', "--body", body)
    assert (second["version"], second["profile"]["body"]) == (2, json.loads(body))
    changed = ok("diff", f"{name}@1", name)["changes"]
    assert changed["weights.lexical"] == [0.4, 1.0]
    assert changed["depth"] == [100, 50]
    assert changed["body.query.match.title"] == [None, "{{text}}"]
    assert ok("rollback", name, "1")["version"] == 3
    history = ok("history", name)
    assert [(each["version"], each["current"]) for each in history] == [(3, True), (2, False), (1, False)]
    assert history[0]["note"] == "as version 1"
    assert history[0]["profile"] == history[2]["profile"]
    listed = ok("list")
    assert listed[name] == json.loads(trifuse("profile", "show", name).stdout)
    assert "lader" in listed
    assert ok("delete", name, "--yes") == {"deleted": 3}
    gone = trifuse("profile", "show", name)
    assert gone.returncode == 2
    assert f"there is no profile '{name}': there are default, lader" in " ".join(gone.stderr.split())


def test_for_people(trifuse: Callable[..., Any], name: str) -> None:
    assert trifuse("profile", "set", name, "--from", "lexical=1").stdout == f"{name}@1 is current.\n"
    assert trifuse("profile", "rollback", name, "1").stdout == f"{name}@2 is current.\n"
    assert f"{name}@2" in trifuse("profile", "list").stdout
    history = trifuse("profile", "history", name).stdout
    assert "*2" in history
    assert "as version 1" in history
    (row,) = (
        line
        for line in trifuse("profile", "diff", name, "dense=1").stdout.splitlines()
        if "dense" in line[:20]
    )
    assert "0.0" in row
    refused = trifuse("profile", "delete", name)
    assert refused.returncode == 1
    assert "Delete" in refused.stderr


def test_a_document_that_was_changed_by_hand_hides_no_other(
    trifuse: Callable[..., Any], client: OpenSearch, name: str
) -> None:
    assert trifuse("profile", "set", name, "--from", "lexical=1").returncode == 0
    client.index(index=PROFILES_INDEX, id=name, body={"kind": "current"}, params={"refresh": "true"})
    listed = trifuse("profile", "list", "--json")
    assert listed.returncode == 1
    assert f"{PROFILES_INDEX}/{name} names no version that is there" in " ".join(listed.stderr.split())
    assert "lader" in json.loads(listed.stdout)
    assert trifuse("profile", "rollback", name, "1").stdout == f"{name}@2 is current.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("history", "nope-nope"), "there is no profile 'nope-nope'"),
        (("rollback", "nope-nope", "1"), "there is no profile 'nope-nope@1'"),
        (("show", "nope-nope@2"), "there is no profile 'nope-nope@2'"),
        (("delete", "nope-nope"), "there is no profile 'nope-nope'"),
        (("delete", "lader"), "there is no profile 'lader'"),
    ],
)
def test_what_is_not_there(trifuse: Callable[..., Any], arguments: tuple[str, ...], message: str) -> None:
    done = trifuse("profile", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_search_by_a_stored_profile(
    trifuse: Callable[..., Any], make_index: Callable[..., str], name: str
) -> None:
    index = make_index(
        [{"_id": "1", "title": "aspirin after stroke"}, {"_id": "2", "title": "stroke"}], vectors=False
    )
    body = '{"query": {"match": {"title": {"query": "{{text}}", "operator": "and"}}}, "size": 1, "from": 0}'
    rule = '{"when": {"words": [null, 1]}, "weights": {"lexical": 2}, "name": "short"}'
    settings = f'{{"weights": {{"lexical": 1}}, "body": {body}, "rules": [{rule}]}}'
    assert trifuse("profile", "set", name, "--from", settings).returncode == 0
    assert trifuse("profile", "set", name, "--from", "lexical=3").returncode == 0
    pinned = json.loads(trifuse("search", index, "aspirin stroke", "--profile", f"{name}@1", "--json").stdout)
    assert [hit["_id"] for hit in pinned["hits"]["hits"]] == ["1"]
    told = pinned["trifuse"]
    assert (told["profile"], told["profile_version"], told["rule"]) == (f"{name}@1", 1, None)
    short = trifuse("search", index, "stroke", "--profile", f"{name}@1").stdout
    assert f"profile  {name}@1, version 1" in short
    assert "rule     short" in short
    other = '{"query": {"match": {"title": "{{text}}"}}, "size": 5}'
    given = trifuse("search", index, "aspirin", "--profile", f"{name}@1", "--body", other, "--json")
    assert json.loads(given.stdout)["hits"]["total"]["value"] == 1
    both = trifuse("search", index, "stroke", "--profile", name, "--body", other, "--json")
    assert len(json.loads(both.stdout)["hits"]["hits"]) == 2
    wrong = trifuse("search", index, "stroke", "--profile", f"{name}@9")
    assert wrong.returncode == 2
    assert f"the profile '{name}' has no version 9" in " ".join(wrong.stderr.split())


def test_versions_are_compared_each_with_its_own_body(
    trifuse: Callable[..., Any], make_index: Callable[..., str], name: str, tmp_path: Path
) -> None:
    """The first version looks in the code, and finds nothing; the second in the title."""
    index = make_index([{"_id": "1", "title": "stroke", "code": "a"}], vectors=False)
    for field in ("code", "title"):
        body = json.dumps({"query": {"match": {field: "{{text}}"}}})
        assert trifuse("profile", "set", name, "--from", "lexical=1", "--body", body).returncode == 0
    queries, qrels = tmp_path / "queries.tsv", tmp_path / "qrels.txt"
    queries.write_text("q1\tstroke\n")
    qrels.write_text("q1 0 1 1\n")
    command = [
        "evaluate",
        index,
        "--queries",
        str(queries),
        "--qrels",
        str(qrels),
        "--measures",
        "RR",
        "--json",
    ]
    done = trifuse(*command, "--profile", f"{name}@1", "--profile", name)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["profiles"]
    assert {profile: each["RR"]["mean"] for profile, each in found.items()} == {f"{name}@1": 0.0, name: 1.0}
    given = trifuse(
        *command, "--profile", f"{name}@1", "--body", '{"query": {"match": {"title": "{{text}}"}}}'
    )
    assert json.loads(given.stdout)["profiles"][f"{name}@1"]["RR"]["mean"] == 1.0
