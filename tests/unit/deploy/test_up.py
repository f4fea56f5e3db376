"""What `up` starts and leaves alone: the services are stand-ins, their processes real."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trifuse.deploy.errors import LocalServiceError, NotAnswering, PortInUse, ServiceDied
from trifuse.deploy.local import up as module
from trifuse.deploy.local.processes import start, stop
from trifuse.deploy.local.services import Service, wait_until_ready
from trifuse.deploy.local.state import load_state
from trifuse.deploy.local.up import Wanted, down, up
from trifuse.encoder import DEFAULT_ENCODER
from trifuse.indexer.errors import HintsUndelivered


class Stage:
    """Starts sleeping processes in the place of services."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[Service] = []
        self.fails: set[str] = set()
        self.ports: dict[str, int] = {}
        self.nodes: list[str] = []

    def launch(self, name: str, url: str) -> Service:
        log = self.folder / f"{name}.log"
        if name in self.fails:
            raise ServiceDied(f"{name} ended while starting")
        process = start([sys.executable, "-c", "import time; time.sleep(120)"], log=log)
        self.made.append(Service(name, url, process, (log,)))
        return self.made[-1]

    def opensearch(self, home: Path, folder: Path, *, port: int, **_: Any) -> Service:
        self.ports["OpenSearch"] = port
        return self.launch("OpenSearch", f"http://127.0.0.1:{port}")

    def redis(self, folder: Path, *, port: int) -> Service:
        self.ports["Redis"] = port
        return self.launch("Redis", f"redis://127.0.0.1:{port}/0")

    def worker(self, folder: Path, *, settings: Any, concurrency: int, name: str, environ: Any) -> Service:
        self.nodes.append(name)
        return replace(self.launch("worker", ""), encoder=settings.encoder)

    def beat(self, folder: Path, *, settings: Any) -> Service:
        return self.launch("beat", "")

    def names(self) -> list[str]:
        return [service.name for service in self.made]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(tmp_path)
    monkeypatch.setattr(module.opensearch, "start_opensearch", made.opensearch)
    monkeypatch.setattr(module.redis, "start_redis", made.redis)
    monkeypatch.setattr(module.workers, "start_worker", made.worker)
    monkeypatch.setattr(module.workers, "start_beat", made.beat)
    monkeypatch.setattr(module, "opensearch_home", lambda home, progress: home)
    monkeypatch.setattr(module, "open_model", lambda name: SimpleNamespace(name=name))
    yield made
    for service in made.made:
        stop(service.process, force=True)


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    return Wanted(home=tmp_path / "home", data=tmp_path / "data", opensearch_port=0, redis_port=0)


def test_it_starts_all_of_them_and_notes_them(stage: Stage, wanted: Wanted) -> None:
    state, started = up(wanted)

    assert stage.names() == ["Redis", "OpenSearch", "worker", "beat"]
    assert [service.process for service in started] == [service.process for service in stage.made]
    assert state.opensearch_url == f"http://127.0.0.1:{stage.ports['OpenSearch']}"
    assert state.broker_url == state.redis_url == f"redis://127.0.0.1:{stage.ports['Redis']}/0"
    assert state.encoder == DEFAULT_ENCODER
    assert load_state(wanted.home) == state


def test_a_second_time_it_starts_nothing(stage: Stage, wanted: Wanted) -> None:
    first, _ = up(wanted)

    second, started = up(wanted)

    assert started == ()
    assert second == first


def test_only_what_ended_is_started_again(stage: Stage, wanted: Wanted) -> None:
    first, _ = up(wanted)
    stop(stage.made[2].process)

    second, started = up(wanted)

    assert [service.name for service in started] == ["worker"]
    assert second.opensearch_url == first.opensearch_url


def test_down_ends_what_it_started_and_nothing_else(stage: Stage, wanted: Wanted) -> None:
    up(wanted)
    other = stage.launch("another", "")

    ended = down(wanted.home)

    assert [service.name for service in ended] == ["beat", "worker", "OpenSearch", "Redis"]
    assert not any(service.process.alive() for service in stage.made[:4])
    assert other.process.alive()
    assert load_state(wanted.home) is None
    assert down(wanted.home) == ()


def test_a_failure_ends_what_this_call_started(stage: Stage, wanted: Wanted) -> None:
    stage.fails.add("worker")

    with pytest.raises(ServiceDied):
        up(wanted)

    assert stage.names() == ["Redis", "OpenSearch"]
    assert not any(service.process.alive() for service in stage.made)
    assert load_state(wanted.home) is None


def test_a_failure_leaves_what_ran_before(stage: Stage, wanted: Wanted) -> None:
    up(replace(wanted, workers=0))
    stage.fails.add("worker")

    with pytest.raises(ServiceDied):
        up(wanted)

    assert all(service.process.alive() for service in stage.made)
    assert len(load_state(wanted.home).services) == 2


def test_another_encoder_gets_a_worker_beside_the_one_that_runs(stage: Stage, wanted: Wanted) -> None:
    up(wanted)

    state, started = up(replace(wanted, encoder="e5-small-v2"))

    assert [(service.name, service.encoder) for service in started] == [("worker", "e5-small-v2")]
    assert all(service.process.alive() for service in stage.made)
    assert stage.nodes[0] == "trifuse" != stage.nodes[1]
    assert state.encoder == DEFAULT_ENCODER  # what commands go by stays
    assert up(wanted) == (state, ())
    assert up(replace(wanted, encoder="e5-small-v2")) == (state, ())
    assert [service.name for service in down(wanted.home)].count("worker") == 2


def test_each_worker_that_ended_is_started_again(stage: Stage, wanted: Wanted) -> None:
    up(wanted)
    state, _ = up(replace(wanted, encoder="e5-small-v2"))
    for service in state.services:
        if service.name == "worker":
            stop(service.process)

    again, started = up(wanted)

    assert [service.encoder for service in started] == [DEFAULT_ENCODER, "e5-small-v2"]
    assert again.encoder == DEFAULT_ENCODER


def test_where_no_worker_runs_another_encoder_is_the_one_that_commands_go_by(
    stage: Stage, wanted: Wanted
) -> None:
    up(replace(wanted, workers=0))
    assert up(replace(wanted, encoder="e5-small-v2"))[0].encoder == "e5-small-v2"
    down(wanted.home)
    assert up(replace(wanted, encoder="bge-small-en-v1.5"))[0].encoder == "bge-small-en-v1.5"


def test_no_sweep_is_sent_where_none_is_wanted(
    stage: Stage, wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIFUSE_SWEEP_S", "often")
    with pytest.raises(LocalServiceError, match=r"TRIFUSE_SWEEP_S is 'often'"):
        up(wanted)
    monkeypatch.setenv("TRIFUSE_SWEEP_S", "0")
    up(wanted)
    assert "beat" not in stage.names()[-1:]


def test_a_models_folder_is_noted_in_full(
    stage: Stage, wanted: Wanted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)

    assert up(replace(wanted, encoder="./model"))[0].encoder == str(tmp_path / "model")


def test_services_that_exist_are_used(stage: Stage, wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module.opensearch, "complaint", lambda url: None if url == "http://there:9200" else "no"
    )
    monkeypatch.setattr(module.redis, "complaint", lambda url: None if url == "redis://there/0" else "no")
    checked: list[str] = []
    monkeypatch.setattr(module, "check_broker", checked.append)

    state, started = up(
        replace(
            wanted, opensearch_url="http://there:9200", redis_url="redis://there/0", broker_url="redis://b/1"
        )
    )

    assert [service.name for service in started] == ["worker", "beat"]
    assert (state.opensearch_url, state.redis_url) == ("http://there:9200", "redis://there/0")
    assert state.broker_url == "redis://b/1"
    assert checked == ["redis://b/1"]


def test_a_broker_that_no_worker_could_use_starts_nothing(stage: Stage, wanted: Wanted) -> None:
    with pytest.raises(HintsUndelivered, match=r"redis://127\.0\.0\.1:1/0"):
        up(replace(wanted, broker_url="redis://127.0.0.1:1/0"))

    assert stage.made == []


def test_a_service_that_doesnt_answer_is_named(stage: Stage, wanted: Wanted) -> None:
    with pytest.raises(NotAnswering, match=r"Redis can't be used at redis://127\.0\.0\.1:1/0.*REDIS_URL"):
        up(replace(wanted, redis_url="redis://127.0.0.1:1/0"))

    assert stage.made == []


def test_a_port_in_use_starts_nothing(stage: Stage, wanted: Wanted) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortInUse, match=str(port)):
            up(replace(wanted, redis_port=port))
        with pytest.raises(PortInUse, match=str(port)):
            up(replace(wanted, opensearch_port=port))

    assert not any(service.process.alive() for service in stage.made)


def test_a_service_that_dies_while_starting_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = start([sys.executable, "-c", "print('no room for me'); raise SystemExit(3)"], log=log)

    with pytest.raises(ServiceDied) as caught:
        wait_until_ready(Service("OpenSearch", "", process, (log,)), lambda: False, timeout_s=20)

    assert "OpenSearch ended while starting" in str(caught.value)
    assert "no room for me" in str(caught.value)
    assert str(log) in str(caught.value)


def test_a_service_that_never_answers_is_ended(tmp_path: Path) -> None:
    process = start([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    service = Service("OpenSearch", "", process, (tmp_path / "log",))

    with pytest.raises(ServiceDied, match=r"wasn't ready within 0 s"):
        wait_until_ready(service, lambda: False, timeout_s=0.2)

    assert not process.alive()
