"""`trifuse status` on an index of ours: counts, workers, and what an interrupted load left."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from typer.testing import CliRunner

from trifuse.deploy.cli.app import app
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.mapping import trial_mapping
from trifuse.indexer.refresh import restore_refresh, save_refresh
from trifuse.indexer.trial import TRIAL_TEMPLATE

pytestmark = pytest.mark.integration


def status(services: Any) -> dict[str, Any]:
    services_named = ["--opensearch", services.opensearch_url, "--redis", services.redis_url]
    done = CliRunner().invoke(app, ["status", "--json", *services_named, "--broker", services.broker_url])
    return json.loads(done.stdout)


def test_counts_workers_and_b6_what_an_interrupted_load_left(
    services: Any, client: OpenSearch, index_name: str, encoder: Any, worker: Any
) -> None:
    ensure_index(client, index_name, trial_mapping(Space(encoder.space, TRIAL_TEMPLATE)))
    client.indices.put_settings(index=index_name, body={"index.refresh_interval": "5s"})
    client.index(index=index_name, id="1", body={"brief_title": "One"}, params={"refresh": "true"})
    save_refresh(client, index_name)  # and the load is killed

    told = status(services)

    counted = told["indexes"][index_name]
    assert (counted["documents"], counted["missing"], counted["current"]) == (1, 1, 0)
    assert told["workers"] >= 1
    assert told["provider"] == "cpu"
    assert sum(each["processes"] for each in told["worker_details"]) == told["workers"]
    for each in told["worker_details"]:
        assert each["counters"].keys() >= {"tasks", "embedded", "failed", "retried"}
    assert told["interrupted_loads"][index_name] == "5s"

    restore_refresh(client, index_name)
    assert index_name not in status(services)["interrupted_loads"]


def test_an_index_that_cant_be_read_hides_no_other(
    services: Any, client: OpenSearch, index_name: str
) -> None:
    fields = {"trifuse_vector": {"id": "of a later version", "encoder": {"new": 1}}}
    body = {"mappings": {"_meta": {"trifuse": {"fields": fields}}}}
    client.indices.create(index=f"{index_name}-a", body=body)
    space = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TRIAL_TEMPLATE)
    ensure_index(client, f"{index_name}-b", trial_mapping(space))

    told = status(services)

    (problem,) = [problem for problem in told["problems"] if f"{index_name}-a" in problem]
    assert "another version" in problem
    assert told["indexes"][f"{index_name}-b"]["documents"] == 0


def test_an_evicting_click_store_is_a_warning_and_no_problem(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status(services)["warnings"] == []
    monkeypatch.setattr(Redis, "info", lambda *_: {"maxmemory_policy": "volatile-lru"})
    named = ["--opensearch", services.opensearch_url, "--redis", services.redis_url]
    done = CliRunner().invoke(app, ["status", *named, "--broker", services.broker_url])
    assert done.stderr.replace("\n", " ").count("maxmemory-policy is 'volatile-lru'") == 1
    (warning,) = status(services)["warnings"]
    assert "noeviction" in warning
    assert not any("maxmemory" in problem for problem in status(services)["problems"])
