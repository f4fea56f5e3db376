"""Real services for the integration tests.

OPENSEARCH_URL and REDIS_URL, both set, name services to use; else the tests start their own in a folder of
their own, and end them. Tests that stop or restart a service take `own_services`, which nobody shares.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.config import opensearch_client, resolve
from trifuse.deploy.config import redis_client as make_redis_client
from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.stack import LocalServices
from trifuse.deploy.local.workers import start_worker
from trifuse.worker.settings import Settings

if TYPE_CHECKING:
    from trifuse.encoder.types import Encoder

SETTINGS = {"http.max_content_length": "10mb"}
"""As small as managed services have it."""


@dataclass(frozen=True)
class Services:
    """What the tests talk to.

    Args:
        broker_url: a Redis database of this run's own, so that no other worker takes its tasks.
        local: what started them; None where they were there already.
    """

    opensearch_url: str
    redis_url: str
    broker_url: str
    folder: Path
    local: LocalServices | None = None

    def environ(self) -> dict[str, str]:
        """The variables that name them to a subprocess."""
        return {
            "OPENSEARCH_URL": self.opensearch_url,
            "REDIS_URL": self.redis_url,
            "TRIFUSE_BROKER_URL": self.broker_url,
        }


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    """OpenSearch and Redis, shared by all tests: don't stop them."""
    opensearch_url, redis_url = os.environ.get("OPENSEARCH_URL"), os.environ.get("REDIS_URL")
    if opensearch_url and redis_url:
        with _folder() as folder:
            yield Services(opensearch_url, redis_url, _database(redis_url, 1 + os.getpid() % 15), folder)
    else:
        with _started() as own:
            yield own


@pytest.fixture(scope="session")
def own_services() -> Iterator[Services]:
    """OpenSearch and Redis that tests may stop and restart, through `.local`; leave them running."""
    with _started() as own:
        yield own


@contextlib.contextmanager
def _started() -> Iterator[Services]:
    with _folder() as folder, LocalServices(folder, settings=_settings(folder)) as local:
        yield Services(
            local.opensearch_url, local.redis_url, _database(local.redis_url, 1), folder / "workers", local
        )


def _settings(folder: Path) -> dict[str, Any]:
    """Snapshots are kept in a folder that belongs to the server's user."""
    return SETTINGS | {"path.repo": [str(folder / "opensearch" / "snapshots")]}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder that another user can enter: pytest's own are closed, and the server doesn't run as root."""
    folder = Path(tempfile.mkdtemp(prefix="trifuse-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _database(url: str, number: int) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))


@pytest.fixture(scope="session")
def client(services: Services) -> Iterator[OpenSearch]:
    """A client of the shared OpenSearch."""
    made = opensearch_client(resolve(opensearch=services.opensearch_url, redis=services.redis_url))
    yield made
    made.close()


@pytest.fixture(scope="session")
def redis_client(services: Services) -> Iterator[Redis]:
    """A client of the shared Redis; str in, str out."""
    made = make_redis_client(resolve(opensearch=services.opensearch_url, redis=services.redis_url))
    yield made
    made.close()


@pytest.fixture
def index_name(client: OpenSearch, redis_client: Redis) -> Iterator[str]:
    """A name that no index has; what was made under it is deleted after the test."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    yield name
    for pattern in (f"{name}*", f"trifuse-*-{name}"):
        found = client.indices.get(index=pattern, params={"expand_wildcards": "all"})
        for index in found:
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    for key in redis_client.scan_iter(match=f"trifuse:{{{name}}}*", count=1000):
        redis_client.delete(key)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The default encoder."""
    from trifuse.encoder import load_encoder

    return load_encoder(resolve(opensearch="unused", environ={}, home=Path("/nowhere")).encoder)


def _parents() -> dict[int, int]:
    """The parent of every process that runs, by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent, *_ = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            if state not in "ZX":
                found[int(folder.name)] = int(parent)
    return found


@dataclass
class Worker:
    """A real prefork Celery worker in a process of its own."""

    services: Services
    concurrency: int = 1
    environ: Mapping[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:8]}")
    service: Service | None = None

    def start(self) -> None:
        """Start it, and wait until it takes tasks."""
        self.service = start_worker(
            self.services.folder,
            settings=Settings.from_env(self.services.environ() | dict(self.environ)),
            environ=self.environ,
            concurrency=self.concurrency,
            name=self.name,
        )

    @property
    def pid(self) -> int:
        """The parent's process id; its children do the work."""
        assert self.service is not None
        return self.service.process.pid

    @property
    def children(self) -> tuple[int, ...]:
        """The process ids of the pool."""
        return tuple(sorted(pid for pid, parent in _parents().items() if parent == self.pid))

    @property
    def alive(self) -> bool:
        """Whether the parent runs."""
        return self.service is not None and self.service.process.alive()

    @property
    def log(self) -> str:
        """What it has said since its last start."""
        return self.service.log.read_text("utf-8") if self.service else ""

    def kill_child(self) -> int:
        """End one process of the pool as a crash would (SIGKILL); the parent starts another. Its id."""
        child = self.children[0]
        os.kill(child, signal.SIGKILL)
        return child

    def kill(self) -> None:
        """End the parent and its pool as a power cut would (SIGKILL)."""
        if self.service:
            stop(self.service.process, force=True)

    def stop(self) -> None:
        """End it as an operator would: tasks under way are finished."""
        if self.service:
            stop(self.service.process, timeout_s=30)

    def restart(self) -> None:
        """Start it again, ended before where it still runs."""
        self.stop()
        self.start()


@pytest.fixture
def worker_factory(services: Services) -> Iterator[Callable[..., Worker]]:
    """Starts workers of the test's own: `worker_factory(concurrency=2, services=..., TRIFUSE_X="1")`."""
    made: list[Worker] = []

    def make(*, concurrency: int = 1, services: Services = services, **environ: str) -> Worker:
        worker = Worker(services, concurrency, environ)
        made.append(worker)
        worker.start()
        return worker

    yield make
    for worker in made:
        worker.kill()


@pytest.fixture(scope="session")
def _shared_worker(services: Services) -> Iterator[Worker]:
    worker = Worker(services)
    yield worker
    worker.stop()


@pytest.fixture
def worker(_shared_worker: Worker) -> Worker:
    """A running worker on the default encoder, one process; started again where a test killed it."""
    if not _shared_worker.alive:
        _shared_worker.start()
    return _shared_worker


@pytest.fixture
def lonely_broker(services: Services) -> Iterator[str]:
    """A database of the same Redis that no other worker takes messages from."""
    url, _, number = services.broker_url.rpartition("/")
    broker_url = f"{url}/{int(number) % 15 + 1}"
    yield broker_url
    with Redis.from_url(broker_url) as redis:
        redis.flushdb()


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Everything in this folder needs services, said or not."""
    here = Path(__file__).parent
    for item in items:
        if Path(item.path).is_relative_to(here):
            item.add_marker(pytest.mark.integration)
