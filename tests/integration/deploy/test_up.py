"""`trifuse up`, `status` and `down` as a person runs them, from an empty folder."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SERVICES = ("OPENSEARCH_URL", "REDIS_URL", "TRIFUSE_BROKER_URL")


class Machine:
    """A person's machine: an empty folder for trifuse, and no services in the environment."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {name: value for name, value in os.environ.items() if name not in SERVICES}
        self.environ["TRIFUSE_HOME"] = str(home)

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(Path(sys.executable).with_name("trifuse")), *arguments],
            env=self.environ | environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def pid(self, status: dict[str, Any], name: str) -> int:
        (service,) = [service for service in status["services"] if service["name"] == name]
        return service["pid"]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="trifuse-up-"))
    folder.chmod(0o755)
    machine = Machine(folder / "home")
    yield machine
    machine.run("down")
    shutil.rmtree(folder, ignore_errors=True)


def up(machine: Machine) -> dict[str, Any]:
    return machine.json("up", "--opensearch-port", "0", "--redis-port", "0", "--workers", "1")


def test_up_status_restart_down(machine: Machine) -> None:
    status = up(machine)

    assert status["workers"] == 1
    assert status["provider"] == "cpu"
    assert status["indexes"] == {}
    assert all(service["running"] and Path(service["log"]).exists() for service in status["services"])
    owner = Path(f"/proc/{machine.pid(status, 'OpenSearch')}").owner()
    assert pwd.getpwnam(owner).pw_uid != 0
    document = f"{status['opensearch_url']}/mine/_doc/1"
    assert httpx.put(document, json={"kept": True}).status_code == 201

    again = machine.run("up")
    assert again.returncode == 0
    assert "up already" in again.stderr
    assert machine.json("status") == status

    ended = machine.json("down")
    assert [service["name"] for service in ended["stopped"]] == ["beat", "worker", "OpenSearch", "Redis"]
    assert machine.run("status").returncode == 1

    restarted = up(machine)
    kept = httpx.get(f"{restarted['opensearch_url']}/mine/_doc/1").json()
    assert kept["_source"] == {"kept": True}


def test_a_second_encoder_gets_a_worker_beside_the_first_and_down_ends_both(machine: Machine) -> None:
    first = up(machine)

    both = machine.json("up", "--encoder", "e5-small-v2-int8", "--workers", "1")

    assert both["workers"] == 2
    assert both["encoder"] == first["encoder"]
    assert {each["encoder"] for each in both["worker_details"]} == {first["encoder"], "e5-small-v2-int8"}
    assert len({each["name"] for each in both["worker_details"]}) == 2
    assert len({each["space"] for each in both["worker_details"]}) == 2
    assert machine.pid(both, "OpenSearch") == machine.pid(first, "OpenSearch")
    ended = machine.json("down")["stopped"]
    assert [service["name"] for service in ended].count("worker") == 2
    assert machine.run("down").stdout == "Nothing that `trifuse up` started is running.\n"


def test_what_ended_is_a_problem_and_up_starts_it_again(machine: Machine) -> None:
    status = up(machine)
    os.kill(machine.pid(status, "Redis"), signal.SIGKILL)

    told = machine.run("status", "--json")
    assert told.returncode == 1
    assert any(
        "Redis" in problem and "trifuse up" in problem for problem in json.loads(told.stdout)["problems"]
    )

    healed = up(machine)
    assert healed["problems"] == []
    assert machine.pid(healed, "OpenSearch") == machine.pid(status, "OpenSearch")


def test_a_port_in_use(machine: Machine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        done = machine.run("up", "--redis-port", port, TRIFUSE_HOME=str(tmp_path))

    assert done.returncode == 1
    assert port in done.stderr
    assert "--redis-port" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_java(machine: Machine, tmp_path: Path) -> None:
    code = (
        "import trifuse.deploy.local.java as java, trifuse.deploy.cli as cli;"
        "java.find_java.__defaults__ = (None, ()); cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "up", "--workers", "0", "--opensearch-port", "0", "--redis-port", "0"],
        env=machine.environ | {"TRIFUSE_HOME": str(tmp_path), "PATH": "", "JAVA_HOME": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 1
    assert "Java 21 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_dies_while_starting(machine: Machine) -> None:
    home = machine.home.with_name("dies")
    done = machine.run(
        "up",
        "--workers",
        "0",
        "--heap",
        "1m",
        "--opensearch-port",
        "0",
        "--redis-port",
        "0",
        TRIFUSE_HOME=str(home),
    )

    assert done.returncode == 1
    assert "OpenSearch ended while starting" in done.stderr
    assert "heap" in done.stderr
    assert "Traceback" not in done.stderr
    assert machine.run("status", TRIFUSE_HOME=str(home)).returncode == 1


def test_wrong_usage_is_2(machine: Machine) -> None:
    assert machine.run("up", "--heap", "banana").returncode == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_up_that_is_ended_leaves_nothing_running(machine: Machine, number: signal.Signals) -> None:
    """Nothing is noted before all of it runs, so that `down` couldn't end what was left."""
    home = machine.home.with_name(f"ended-{number.name}")
    command = [str(Path(sys.executable).with_name("trifuse")), "up", "--opensearch-port", "0"]
    with subprocess.Popen(
        [*command, "--redis-port", "0", "--workers", "0"],
        env=machine.environ | {"TRIFUSE_HOME": str(home)},
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        deadline = time.monotonic() + 120
        while not _running_in(home / "redis") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _running_in(home / "redis")
        process.send_signal(number)
        assert process.wait(timeout=60) == 130
    assert _running_in(home) == []


def _running_in(folder: Path) -> list[int]:
    """The processes whose current folder is this one or below it."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.readlink().is_relative_to(folder):
                found.append(int(link.parent.name))
    return found
