"""The cases from the field about bulk writing (B3, B4, B6), into an index that was attached to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach
from trifuse.indexer.follow import Patience
from trifuse.indexer.meta import read_meta
from trifuse.indexer.sync import SyncReport, sync
from trifuse.worker.embedding import EmbedReport, embed

TRIFUSE = Path(sys.executable).with_name("trifuse")
QUICK = Patience(lease_s=0.5, stall_s=2.0, silence_s=5.0, poll_s=0.05)
FIELD = "trifuse_vector"

Keep = Callable[..., tuple[SyncReport, list[EmbedReport]]]


@pytest.fixture
def keep(client: OpenSearch, encoder: Encoder) -> Keep:
    """`sync --wait`, with a worker that does at once what it is told, by a client of its own."""

    def kept(name: str, by: OpenSearch = client, **options: Any) -> tuple[SyncReport, list[EmbedReport]]:
        reports: list[EmbedReport] = []

        def bring(index: str, field: str, space: Any, ids: Sequence[Any]) -> None:
            reports.append(embed(by, encoder, index, field, ids))

        return sync(client, name, bring, wait=True, patience=QUICK, **options), reports

    return kept


def test_b3_429_twice_then_success(client: OpenSearch, make: Any, plan: Any, keep: Keep, busy: Any) -> None:
    name = make()
    apply_attach(client, plan(name))
    busy.refuse("/_bulk")
    report, (embedded,) = keep(name, busy.client)
    assert (busy.refused, busy.pauses) == ({"/_bulk"}, [1, 2])
    assert embedded == EmbedReport(embedded=3, crowded=3)
    assert (report.pending, report.embedded, report.failed) == (0, 3, 0)
    assert {client.get(index=name, id=doc_id)["_version"] for doc_id in "012"} == {2}


def test_b3_429_twice_for_some_items(client: OpenSearch, make: Any, plan: Any, keep: Keep, busy: Any) -> None:
    """The other stays from the first request on, and isn't written again with those that are sent again."""
    name = make()
    apply_attach(client, plan(name))
    busy.items = {"0": 2, "2": 2}
    report, (embedded,) = keep(name, busy.client)
    assert busy.pauses == [1, 2]
    assert embedded == EmbedReport(embedded=3, crowded=2)
    assert (report.pending, report.embedded, report.failed) == (0, 3, 0)
    assert {client.get(index=name, id=doc_id)["_version"] for doc_id in "012"} == {2}


def test_b4_some_documents_are_refused(
    client: OpenSearch, make: Any, services: Any, worker: Any, failures: Any
) -> None:
    """Two that the owner's mapping takes no more: the others stay, and each command's exit status says it."""
    name = make(docs=[{"title": f"Volume {number}"} for number in range(20)])
    client.indices.put_mapping(index=name, body={"dynamic": "false"})
    for doc_id in ("7", "13"):
        client.index(index=name, id=doc_id, body={"title": f"Volume {doc_id}", "shelf": "north"})
    client.indices.put_mapping(index=name, body={"dynamic": "strict"})
    counted = {"pending": 0, "embedded": 18, "skipped": 0, "failed": 2}
    attach = ("attach", name, "--text", "title", "--accept-version-bump", "--wait", "--json")
    for command in (attach, ("sync", name, "--wait", "--json"), ("sync", name, "--json")):
        done = _run(services, *command)
        assert done.returncode == 1, done.stderr
        said = json.loads(done.stdout)
        assert {key: said[key] for key in counted} == counted
        assert "2 documents can't be embedded: the index trifuse-failed says why" in done.stderr
        counted = {**counted, "embedded": 0, "skipped": 18}
    failed = failures(name, [str(number) for number in range(20)])
    assert sorted(failed) == ["13", "7"]
    for item in failed.values():
        assert item.reason.startswith("strict_dynamic_mapping_exception")
        assert "[shelf]" in item.reason
    client.indices.put_mapping(index=name, body={"properties": {"shelf": {"type": "keyword"}}})
    done = _run(services, "sync", name, "--wait", "--retry-failed", "--json")
    assert (done.returncode, json.loads(done.stdout)["embedded"]) == (0, 2)


def test_b4_sentences_that_are_refused(
    client: OpenSearch, make: Any, services: Any, worker: Any, keep: Keep
) -> None:
    """Told by every sync until they are written: when their document is, or by --retry-failed."""
    name = make(docs=[{"title": f"Volume {number}. It ends.", "year": number} for number in range(3)])
    done = _run(services, "attach", name, "--text", "title", "--accept-version-bump", "--sentences", "--wait")
    assert done.returncode == 0, done.stderr
    sentences = f"{name}-trifuse-sentences"
    client.ingest.put_pipeline(id=name, body={"processors": [{"fail": {"message": "not now"}}]})
    client.indices.put_settings(index=sentences, body={"index.default_pipeline": name})
    try:
        for doc_id in "34":
            client.index(index=name, id=doc_id, body={"title": "Another volume. It ends."})
        for command in (("sync", name, "--wait"), ("sync", name, "--wait")):
            done = _run(services, *command)
            assert done.returncode == 1
            assert f"sentences of 2 documents of '{name}' were refused" in done.stderr
            assert "not now" in done.stderr
        assert keep(name)[0].failed == 0  # the documents themselves are embedded
        client.indices.put_settings(index=sentences, body={"index.default_pipeline": "_none"})
        client.index(index=name, id="3", body={"title": "Another volume, edited. It ends."})
        assert "sentences of 1 documents" in keep(name)[0].stalled
        done = _run(services, "sync", name, "--wait", "--retry-failed")
        assert done.returncode == 0, done.stderr
    finally:
        client.ingest.delete_pipeline(id=name)
    assert client.count(index=sentences)["count"] == 10


def test_b4_an_index_that_takes_no_writes(
    client: OpenSearch, make: Any, plan: Any, keep: Keep, failures: Any
) -> None:
    """No fault of any document: they stay pending, and waiting says why it ended."""
    name = make()
    apply_attach(client, plan(name))
    client.indices.put_settings(index=name, body={"index.blocks.write": True})
    report, (embedded, *_) = keep(name)
    assert len(embedded.unfinished) == 3
    assert (report.pending, report.embedded, report.failed) == (3, 0, 0)
    assert "none of the 3 documents" in report.stalled
    client.indices.put_settings(index=name, body={"index.blocks.write": None})
    assert failures(name, "012") == {}
    assert keep(name)[0] == SyncReport(pending=0, embedded=3, skipped=0, failed=0)


def test_b6_the_owners_refresh_interval_stays(
    client: OpenSearch, make: Any, services: Any, lonely_broker: str, keep: Keep
) -> None:
    """Of three indexes behind an alias, while they are attached to and synced, and when that is killed."""
    owners = {"-a": "7s", "-b": "-1", "-c": None}
    names = {
        make(settings={"refresh_interval": value}, suffix=suffix): value for suffix, value in owners.items()
    }
    alias = next(iter(names)).removesuffix("-a") + "-all"
    for name in names:
        client.indices.put_alias(index=name, name=alias)
    for command in (
        ("attach", alias, "--text", "title", "--accept-version-bump", "--wait"),
        ("sync", alias, "--wait"),
    ):
        process = subprocess.Popen(
            [TRIFUSE, *command],
            env={**os.environ, **services.environ(), "TRIFUSE_BROKER_URL": lonely_broker},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _until(lambda: all("trifuse" in read_meta(client, name) for name in names))
            time.sleep(3 if command[0] == "sync" else 0.5)
            assert process.poll() is None
            assert _intervals(client, alias) == names
        finally:
            process.kill()
            process.wait()
        assert _intervals(client, alias) == names
    report, _ = keep(alias)
    assert (report.pending, report.embedded) == (0, 9)
    assert _intervals(client, alias) == names


def _intervals(client: OpenSearch, name: str) -> dict[str, str | None]:
    found = client.indices.get_settings(index=name)
    return {index: entry["settings"]["index"].get("refresh_interval") for index, entry in found.items()}


def _until(what: Callable[[], bool], *, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def _run(services: Any, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TRIFUSE, *arguments],
        env={**os.environ, **services.environ()},
        capture_output=True,
        text=True,
        timeout=180,
    )
