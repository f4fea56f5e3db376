"""The compose file against itself and the code: there is no Docker to run it with here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from trifuse.deploy.local.distribution import VERSION
from trifuse.encoder import DEFAULT_ENCODER
from trifuse.worker.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def dockerfile(compose: dict[str, Any]) -> str:
    build = compose["services"]["worker"]["build"]
    context = (ROOT / "deploy" / build["context"]).resolve()
    assert context == ROOT
    return (context / build["dockerfile"]).read_text("utf-8")


def test_the_server_is_the_version_that_the_tests_run(compose: dict[str, Any]) -> None:
    assert compose["services"]["opensearch"]["image"] == f"opensearchproject/opensearch:{VERSION}"


def test_redis_never_evicts(compose: dict[str, Any]) -> None:
    command = compose["services"]["redis"]["command"]

    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_the_worker_finds_its_services_by_name_and_port(compose: dict[str, Any]) -> None:
    services = compose["services"]
    settings = Settings.from_env(services["worker"]["environment"])

    for url in (settings.opensearch_url, settings.redis_url, settings.broker_url):
        parts = urlsplit(url)
        published = services[parts.hostname]["ports"]
        assert published == [f"127.0.0.1:{parts.port}:{parts.port}"]
    assert settings.encoder == f"${{TRIFUSE_ENCODER:-{DEFAULT_ENCODER}}}"


def test_the_worker_waits_for_what_tells_its_health(compose: dict[str, Any]) -> None:
    services = compose["services"]

    for name, how in services["worker"]["depends_on"].items():
        assert how == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"][0] == "CMD"


def test_data_outlives_the_containers(compose: dict[str, Any]) -> None:
    used = {
        volume.split(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", ())
    }

    assert used == set(compose["volumes"]) == {"opensearch", "redis"}


def test_the_image_holds_every_folder_and_the_default_encoder(dockerfile: str) -> None:
    copied = set(re.findall(r"^COPY (\w+) \1$", dockerfile, re.MULTILINE))

    assert copied == {"encoder", "indexer", "ranker", "worker", "deploy"}
    assert f"ARG ENCODER={DEFAULT_ENCODER}\n" in dockerfile
    ignored = (ROOT / "deploy" / "Dockerfile.worker.dockerignore").read_text("utf-8").splitlines()
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} >= copied
    for name in re.search(r"^COPY (.+) \./$", dockerfile, re.MULTILINE).group(1).split():
        assert (ROOT / name).is_file()


def test_the_image_runs_the_installed_app_and_not_as_root(dockerfile: str) -> None:
    last_user = re.findall(r"^USER (\S+)$", dockerfile, re.MULTILINE)[-1]

    assert last_user not in ("root", "0")
    assert "celery -A trifuse.worker.app worker" in dockerfile
    assert re.findall(r"^WORKDIR (\S+)$", dockerfile, re.MULTILINE)[-1] == "/var/lib/trifuse"


def test_the_sweep_and_the_watch_run_the_workers_image_on_its_services(compose: dict[str, Any]) -> None:
    worker, beat, watch = (compose["services"][name] for name in ("worker", "beat", "watch"))

    assert {beat["image"], watch["image"]} == {worker["image"]}
    assert watch["environment"] == worker["environment"]
    sweep = {"TRIFUSE_SWEEP_S": f"${{TRIFUSE_SWEEP_S:-{Settings().sweep_s}}}"}
    assert beat["environment"] == worker["environment"] | sweep
    assert beat["command"][:4] == ["celery", "-A", "trifuse.worker.app", "beat"]
    assert watch["command"][:2] == ["trifuse", "sync"]
    assert watch["profiles"] == ["watch"]
    # The image's own check asks a worker for its health, which these aren't.
    assert beat["healthcheck"] == watch["healthcheck"] == {"disable": True}
