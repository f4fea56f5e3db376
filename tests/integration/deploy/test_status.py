"""`trifuse status` on an index of ours: counts, workers, and what an interrupted load left."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from typer.testing import CliRunner

from trifuse.deploy.cli.app import app
from trifuse.deploy.config import celery_app, resolve
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.copying import begin
from trifuse.indexer.counts import count_field
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.failures import FAILED_INDEX
from trifuse.indexer.mapping import index_body, trial_mapping
from trifuse.indexer.refresh import restore_refresh, save_refresh
from trifuse.indexer.trial import TRIAL_TEMPLATE
from trifuse.worker.embedding import give_up
from trifuse.worker.enqueue import celery_enqueue

pytestmark = pytest.mark.integration


def named(services: Any) -> dict[str, str]:
    return {
        "opensearch": services.opensearch_url,
        "redis": services.redis_url,
        "broker": services.broker_url,
    }


def flags(services: Any) -> list[str]:
    return [part for name, url in named(services).items() for part in (f"--{name}", url)]


def status(services: Any) -> dict[str, Any]:
    return json.loads(CliRunner().invoke(app, ["status", "--json", *flags(services)]).stdout)


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


def test_rate_what_is_left_why_documents_failed_and_fields_apart(
    services: Any, client: OpenSearch, index_name: str, encoder: Any, worker: Any
) -> None:
    space = Space(encoder.space, TextTemplate(("title",)))
    other = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
    spaces = {VECTOR_FIELD: space, f"{VECTOR_FIELD}_2": other}
    client.indices.create(index=index_name, body=index_body({"title": {"type": "text"}}, spaces=spaces))
    for number in range(5):
        client.index(index=index_name, id=str(number), body={"title": f"Volume {number}"})
    first, second = (embedded_field(client, index_name, field) for field in spaces)
    ids = [(str(number), None) for number in range(4)]
    celery_enqueue(celery_app(resolve(**named(services))))(index_name, VECTOR_FIELD, space, ids)
    end = time.monotonic() + 60
    while count_field(client, first).current < 4 and time.monotonic() < end:
        client.indices.refresh(index=index_name)
        time.sleep(0.2)
    give_up(client, index_name, second.field, [("1", None), ("2", None)], "document '1' is odd")
    client.indices.refresh(index=FAILED_INDEX)

    told = status(services)["indexes"][index_name]

    assert told["documents"] == 5
    one, two = told["fields"][first.field], told["fields"][second.field]
    assert told["current"] == two["current"] == 0  # the one that is furthest behind
    assert (one["current"], one["missing"]) == (4, 1)
    assert 4 / 60 <= one["rate"] <= 4 / 5
    assert one["eta_s"] == math.ceil(1 / one["rate"])
    assert (two["rate"], two["eta_s"]) == (0, None)
    assert (one["encoder"], two["encoder"]) == (encoder.space.encoder, "tiny")
    assert two["reasons"] == {"document '1' is odd": 1, "document '…' is odd": 1}
    shown = CliRunner().invoke(app, ["status", *flags(services)]).stdout
    assert f"`trifuse sync {index_name} --retry-failed` tries them again" in shown


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


def test_an_unfinished_copy_is_shown(services: Any, client: OpenSearch, index_name: str) -> None:
    client.indices.create(index=index_name, body={"mappings": {"properties": {"title": {"type": "text"}}}})
    space = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
    copy = begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))

    told = status(services)

    expected = {"index": copy.index, "source": index_name, "alias": copy.alias, "phase": "filling"}
    assert [found for found in told["copies"] if found["source"] == index_name] == [expected]
    assert told["indexes"][copy.index]["documents"] == 0
