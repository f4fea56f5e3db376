"""The cases from the field about Celery and Redis, on indexes of other writers."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from redis.crc import key_slot
from typer.testing import CliRunner

from trifuse.deploy.cli.app import app
from trifuse.deploy.local.ports import free_port
from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.redis import start_redis
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.workers import start_beat
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach
from trifuse.indexer.counts import counts
from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Hint
from trifuse.indexer.sync import SyncReport, sync
from trifuse.ranker import ClickStore, HybridRanker
from trifuse.worker.app import create_app
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.deliveries import redelivery
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.metrics import read_metrics
from trifuse.worker.settings import Settings

ATTACH = ("--text", "title,body", "--accept-version-bump", "--json")
QUICK = Patience(lease_s=0.5, stall_s=20.0, silence_s=20.0, poll_s=0.1)


class OwnRedis:
    """A Redis of one test's own, that it may stop and start again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._service: Service | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.broker_url = f"redis://127.0.0.1:{self._port}/1"

    def start(self) -> None:
        self._service = start_redis(self._folder, port=self._port)

    def stop(self) -> None:
        if self._service:
            stop(self._service.process, force=True)


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """It runs."""
    made = OwnRedis(tmp_path)
    made.start()
    yield made
    made.stop()


def maps_the_runtime(pid: int) -> bool:
    """Whether a process has loaded what sessions are made of."""
    return "onnxruntime" in Path(f"/proc/{pid}/maps").read_text("utf-8")


def test_c2_sweeps_and_batches_of_an_attached_index_make_one_session_a_child(
    client: OpenSearch,
    make: Any,
    plan: Any,
    services: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parent makes none, nor does beat, which sends the sweep."""
    name = make()
    apply_attach(client, plan(name))
    services = replace(services, broker_url=lonely_broker)
    worker = worker_factory(concurrency=2, services=services, TRIFUSE_METRICS_DIR=str(tmp_path))
    monkeypatch.setenv("TRIFUSE_SWEEP_S", "1")
    monkeypatch.setenv("TRIFUSE_METRICS_DIR", str(tmp_path))
    beat = start_beat(services.folder, settings=Settings.from_env(services.environ()))
    try:
        end = time.monotonic() + 90
        while counts(client, name)["current"] < 3:
            assert time.monotonic() < end, worker.log
            time.sleep(0.5)
            client.indices.refresh(index=name)
        assert "Task trifuse.sweep" in worker.log
        assert not maps_the_runtime(beat.process.pid)
        assert not maps_the_runtime(worker.pid)
        assert all(maps_the_runtime(pid) for pid in worker.children)
    finally:
        stop(beat.process)
    found = read_metrics(tmp_path)
    assert {process.pid: process.sessions for process in found} == dict.fromkeys(worker.children, 1)


def test_c4_keys_that_one_command_touches_share_a_slot(
    client: OpenSearch,
    encoder: Encoder,
    make: Any,
    services: Any,
    own_redis: OwnRedis,
    worker_factory: Callable[..., Any],
) -> None:
    """Everything that attaching, syncs, workers, clicks and searches say to the store, heard by the store."""
    name = make({"_routing": {"required": True}}, routing="north")
    own = replace(services, redis_url=own_redis.url, broker_url=own_redis.broker_url)
    with Redis.from_url(own_redis.url) as redis, redis.monitor() as monitor:
        worker_factory(services=own)
        done = CliRunner().invoke(app, ["attach", name, *ATTACH, "--wait"], env=own.environ())
        assert done.exit_code == 0, done.stderr
        again = SimpleNamespace(delivery_info={"redelivered": True}, id="a-message")
        assert [redelivery(again, own_redis.url) for _ in range(2)] == [1, 2]
        event = ClickEvent(query="asthma", doc_id="0", timestamp=time.time(), user="somebody")
        assert Intake(client, redis, name, min_visitors=1).take([event]).counted == 1
        HybridRanker(client, encoder, ClickStore(redis, client)).search(name, text="asthma")
        touched = _touched(redis, monitor)
    assert {key.split(":")[1] for key in set().union(*touched)} == {f"{{{name}}}", "deliveries"}
    assert max(map(len, touched)) > 1
    for keys in touched:
        assert len({key_slot(key.encode()) for key in keys}) == 1, keys


def _touched(redis: Redis, monitor: Any) -> list[set[str]]:
    """The keys of ours in each command that a monitor has heard until now; a transaction counts as one."""
    redis.echo("that was all")
    commands: list[set[str]] = []
    transactions: dict[str, set[str]] = {}
    while (seen := monitor.next_command())["command"] != "ECHO that was all":
        words, who = seen["command"].split(), seen["client_port"]
        keys = {word for word in words if word.startswith("trifuse:")}
        if words[0] == "MULTI":
            transactions[who] = set()
        elif words[0] == "EXEC":
            commands.append(transactions.pop(who))
        elif who in transactions:
            transactions[who] |= keys
        else:
            commands.append(keys)
    return [keys for keys in commands if keys]


def is_as_it_was(client: OpenSearch, name: str) -> bool:
    """Whether an index is its owner's alone, and has no copy."""
    ((index, found),) = client.indices.get(index=f"{name}*").items()
    fields = found["mappings"]["properties"]
    ours = [key for key in fields if key.startswith("trifuse")] + list(found["aliases"])
    return index == name and "_meta" not in found["mappings"] and not ours


def test_c6_attaching_while_redis_is_down_or_silent_says_so_and_does_nothing(
    client: OpenSearch, make: Any, services: Any
) -> None:
    name = make()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        down, mute = free_port(), silent.getsockname()[1]
        for port, why, more in ((down, "refused", ()), (down, "refused", ("--copy",)), (mute, "Timeout", ())):
            environ = services.environ() | {"TRIFUSE_BROKER_URL": f"redis://:secret@127.0.0.1:{port}/1"}
            began = time.monotonic()
            done = CliRunner().invoke(app, ["attach", name, *ATTACH, *more], env=environ)
            assert done.exit_code == 1
            said = str(done.exception)
            assert f"127.0.0.1:{port}/1 can't be reached" in said, said
            assert why in said, said
            assert "secret" not in said
            assert time.monotonic() - began < 15
            assert is_as_it_was(client, name)


def test_c6_redis_goes_down_between_attaching_and_queueing(
    client: OpenSearch, encoder: Encoder, make: Any, plan: Any, services: Any, own_redis: OwnRedis
) -> None:
    """Attached and nothing queued: the index knows what is pending, and the same command goes on."""
    name = make()
    environ = replace(services, redis_url=own_redis.url, broker_url=own_redis.broker_url).environ()
    apply_attach(client, plan(name))
    own_redis.stop()
    celery = create_app(Settings.from_env(environ))
    with pytest.raises(HintsUndelivered, match=r"Nothing is lost, what is pending stays so.*`trifuse sync`"):
        sync(client, name, celery_enqueue(celery))
    assert counts(client, name)["missing"] == 3
    own_redis.start()
    done = CliRunner().invoke(app, ["attach", name, *ATTACH], env=environ)
    assert (done.exit_code, json.loads(done.stdout)["pending"]) == (0, 3)
    with Redis.from_url(own_redis.broker_url) as redis:
        assert redis.llen(f"trifuse.{encoder.space.id}") == 1
    celery.close()


def test_c6_a_sync_that_waits_outlasts_redis(
    client: OpenSearch, encoder: Encoder, make: Any, plan: Any, services: Any, own_redis: OwnRedis
) -> None:
    name = make()
    environ = replace(services, redis_url=own_redis.url, broker_url=own_redis.broker_url).environ()
    apply_attach(client, plan(name))
    celery = create_app(Settings.from_env(environ))
    send = celery_enqueue(celery)
    tried: list[int] = []

    def send_and_embed(index: str, field: str, space: Any, ids: Sequence[Hint], /) -> None:
        tried.append(len(ids))
        send(index, field, space, ids)
        embed(client, encoder, index, field, ids)  # as the worker does that gets the message

    own_redis.stop()
    restart = threading.Timer(1.0, own_redis.start)
    restart.start()
    report = sync(client, name, send_and_embed, wait=True, patience=QUICK)
    restart.join()
    assert report == SyncReport(pending=0, embedded=3, skipped=0, failed=0)
    assert len(tried) > 1
    celery.close()


@pytest.mark.parametrize("exact", [False, True], ids=["in_place", "exact"])
def test_c6_searches_of_an_attached_index_while_redis_is_down_or_silent(
    client: OpenSearch, encoder: Encoder, make: Any, attach: Any, exact: bool
) -> None:
    """The click leg has no say within its budget, and the response tells; the other legs answer."""
    name = make(settings={"knn": not exact})
    attach(name, exact=exact)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (free_port(), silent.getsockname()[1]):
            with Redis(port=port, socket_timeout=30) as redis:
                ranker = HybridRanker(client, encoder, ClickStore(redis, client))
                ranker.search(name, text="children who wheeze")  # the mapping is known from here on
                answer = ranker.search(name, text="children who wheeze")
            legs = answer["trifuse"]["legs"]
            assert answer["hits"]["hits"][0]["_id"] == "0"
            assert legs["dense"]["state"] == "ok"
            assert legs["dense"].get("exact", False) is exact
            assert (legs["clicks"]["state"], legs["clicks"]["hits"]) == ("failed", 0)
            assert "the click store didn't answer" in legs["clicks"]["reason"]
            assert legs["clicks"]["took_ms"] < 1_000  # the budget is 300 ms
