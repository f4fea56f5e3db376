"""Start what a search stack needs on this machine and leave it running; end what was left running."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from trifuse.deploy.config import without_password
from trifuse.deploy.errors import LocalServiceError, NotAnswering
from trifuse.deploy.local import opensearch, redis, workers
from trifuse.deploy.local.artifacts import Progress, opensearch_home, silent
from trifuse.deploy.local.places import make_folder, require_disk
from trifuse.deploy.local.ports import free_port, require_free
from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.stack import server_home
from trifuse.deploy.local.state import State, clear_state, exclusive, load_state, save_state
from trifuse.encoder.registry import DEFAULT_ENCODER, encoder_names, open_model
from trifuse.worker.broker import check_broker
from trifuse.worker.settings import Settings

OPENSEARCH_PORT = 9200
REDIS_PORT = 6379


def default_workers() -> int:
    """Half of the cores, four at most: OpenSearch wants some too."""
    return max(1, min(4, (os.cpu_count() or 1) // 2))


@dataclass(frozen=True)
class Wanted:
    """What `up` shall see to.

    Args:
        home: where the note of what runs is kept.
        data: where data, logs and programs are kept.
        opensearch_url, redis_url: services that exist, to be used and not started; None starts one.
        broker_url: Celery's broker; None takes Redis.
        opensearch_port, redis_port: None prefers the usual one, or else a free one; 0 takes a free one.
        encoder: where workers of others run, one of this encoder is started beside them; None keeps those
            that run, or takes the default.
        heap: of OpenSearch, as `512m` or `1g`.
        workers: processes of each Celery worker that is started; 0 starts none.
    """

    home: Path
    data: Path
    opensearch_url: str | None = None
    redis_url: str | None = None
    broker_url: str | None = None
    opensearch_port: int | None = None
    redis_port: int | None = None
    encoder: str | None = None
    heap: str = opensearch.HEAP
    workers: int = 1


def up(wanted: Wanted, *, progress: Progress = silent) -> tuple[State, tuple[Service, ...]]:
    """Start what isn't running of what is wanted; what runs now, and which of it was started by this call.

    Where one can't be started, those that this call started are ended again.

    Raises:
        LocalServiceError: with its remedy.
        BrokerUnsafe, HintsUndelivered: of a broker that exists.
        DownloadFailed, ModelNotFound: of the server's files, of the encoder's.
    """
    with exclusive(wanted.home):
        before = load_state(wanted.home)
        starter = _Starter(wanted, before, progress)
        try:
            state = starter.run()
        except BaseException:
            for service in reversed(starter.started):
                stop(service.process)
            raise
        save_state(wanted.home, state)
        return state, tuple(starter.started)


def down(home: Path) -> tuple[Service, ...]:
    """End what `up` left running, the last started first; what was ended. Data and logs stay."""
    with exclusive(home):
        state = load_state(home)
        running = [service for service in state.services if service.process.alive()] if state else []
        for service in reversed(running):
            stop(service.process)
        clear_state(home)
    return tuple(reversed(running))


class _Starter:
    """One run of `up`: what runs, and what of it this run started, so that a failure can end that."""

    def __init__(self, wanted: Wanted, before: State | None, progress: Progress) -> None:
        self._wanted = wanted
        self._before = before
        self._progress = progress
        self._running = [service for service in before.services if service.process.alive()] if before else []
        self.started: list[Service] = []

    def run(self) -> State:
        """See to all of it, the worker last: it needs the others."""
        wanted = self._wanted
        make_folder(wanted.data)
        redis_url = _answering(redis.NAME, wanted.redis_url, redis.complaint, "--redis or REDIS_URL")
        if wanted.workers and (broker := wanted.broker_url or redis_url):
            check_broker(broker)
        redis_url = redis_url or self._ensure(redis.NAME, self._redis).url
        opensearch_url = _answering(
            opensearch.NAME, wanted.opensearch_url, opensearch.complaint, "--opensearch or OPENSEARCH_URL"
        )
        opensearch_url = opensearch_url or self._ensure(opensearch.NAME, self._opensearch).url
        encoders = self._encoders()
        state = State(opensearch_url, redis_url, wanted.broker_url or redis_url, encoders[0])
        if self._before and not _same_services(self._before, state):
            self._end(workers.NAME)
            self._end(workers.BEAT)
        if wanted.workers:
            for encoder in encoders:
                self._ensure(workers.NAME, partial(self._worker, state, encoder), encoder=encoder)
            if _sweep_s():
                self._ensure(workers.BEAT, lambda: self._beat(state))
        return replace(state, services=tuple(self._running))

    def _encoders(self) -> list[str]:
        """Those that workers are wanted of, the first one first."""
        asked = _full_name(self._wanted.encoder) if self._wanted.encoder else None
        if self._before is None or (asked and not any(item.name == workers.NAME for item in self._running)):
            return [asked or DEFAULT_ENCODER]
        noted = [item.encoder for item in self._before.services if item.name == workers.NAME]
        return list(dict.fromkeys([self._before.encoder, *noted, *([asked] if asked else [])]))

    def _ensure(self, name: str, start: Callable[[], Service], *, encoder: str = "") -> Service:
        """The service of that name and encoder that runs already, else the one that `start` starts."""
        for service in self._running:
            if (service.name, service.encoder) == (name, encoder):
                return service
        stage = f"start {name} {encoder}".rstrip()
        self._progress(stage, 0, 1)
        service = start()
        self._running.append(service)
        self.started.append(service)
        self._progress(stage, 1, 1)
        return service

    def _end(self, name: str) -> None:
        for service in [service for service in self._running if service.name == name]:
            stop(service.process)
            self._running.remove(service)

    def _redis(self) -> Service:
        port = _port(self._wanted.redis_port, REDIS_PORT, redis.NAME, "--redis-port", "REDIS_URL")
        return redis.start_redis(self._wanted.data / "redis", port=port)

    def _opensearch(self) -> Service:
        wanted = self._wanted
        port = _port(
            wanted.opensearch_port, OPENSEARCH_PORT, opensearch.NAME, "--opensearch-port", "OPENSEARCH_URL"
        )
        require_disk(wanted.data)
        home = opensearch_home(server_home(wanted.data), progress=self._progress)
        return opensearch.start_opensearch(home, wanted.data / "opensearch", port=port, heap=wanted.heap)

    def _worker(self, state: State, encoder: str) -> Service:
        self._progress(f"fetch encoder {encoder}", 0, 1)
        open_model(encoder)
        self._progress(f"fetch encoder {encoder}", 1, 1)
        first = encoder == state.encoder
        return workers.start_worker(
            self._wanted.data / "workers",
            settings=_settings(state, encoder),
            concurrency=self._wanted.workers,
            name=workers.FIRST if first else workers.node_name(encoder),
            environ={} if first else _counters_of_its_own(workers.node_name(encoder)),
        )

    def _beat(self, state: State) -> Service:
        return workers.start_beat(self._wanted.data / "workers", settings=_settings(state, state.encoder))


def _counters_of_its_own(name: str) -> dict[str, str]:
    """A worker's counters are all that lie in its folder."""
    folder = os.environ.get("TRIFUSE_METRICS_DIR")
    return {"TRIFUSE_METRICS_DIR": str(Path(folder) / name)} if folder else {}


def _full_name(encoder: str) -> str:
    """A folder's whole path: the worker runs in another folder than we do."""
    return encoder if encoder in encoder_names() else str(Path(encoder).expanduser().resolve())


def _settings(state: State, encoder: str) -> Settings:
    return Settings(
        opensearch_url=state.opensearch_url,
        redis_url=state.redis_url,
        broker_url=state.broker_url,
        encoder=encoder,
    )


def _sweep_s() -> int:
    try:
        return Settings.from_env(os.environ).sweep_s
    except ValueError as error:
        raise LocalServiceError(str(error)) from error


def _answering(name: str, url: str | None, complaint: Callable[[str], str | None], option: str) -> str | None:
    """The URL of a service that exists, if one is named. Raises NotAnswering where it can't be used."""
    why = complaint(url) if url else None
    if url and why:
        raise NotAnswering(
            f"{name} can't be used at {without_password(url)} ({why}): start it, correct {option}, or leave"
            " that out and trifuse starts one of its own"
        )
    return url


def _port(port: int | None, usual: int, name: str, option: str, variable: str) -> int:
    if port is None:
        return free_port(prefer=usual)
    return require_free(port, service=name, option=option, variable=variable) if port else free_port()


def _same_services(one: State, other: State) -> bool:
    keys = ("opensearch_url", "redis_url", "broker_url")
    return all(getattr(one, key) == getattr(other, key) for key in keys)
