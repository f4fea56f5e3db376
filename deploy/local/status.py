"""What `trifuse status` tells: the services, the workers, and how far each index is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from opensearchpy.exceptions import OpenSearchException

from trifuse.deploy.config import (
    Settings,
    celery_app,
    opensearch_client,
    redis_client,
    require_opensearch,
    without_password,
)
from trifuse.deploy.errors import NotAnswering
from trifuse.deploy.local import redis
from trifuse.deploy.local.indexes import CopyStatus, copies_at, index_status, rates_of
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.state import State
from trifuse.encoder.errors import TrifuseError
from trifuse.indexer.embedded import embedded_indexes
from trifuse.indexer.refresh import pending_restores
from trifuse.worker.eviction import evicting_store
from trifuse.worker.inspection import WorkerInfo, workers

WORKERS_S = 1.0


class ServiceStatus(msgspec.Struct, frozen=True):
    """A service that `trifuse up` started: whether it still runs, where it logs, a worker's encoder."""

    name: str
    pid: int
    running: bool
    url: str
    log: str
    encoder: str = ""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `trifuse status`.

    Args:
        workers: processes that embed, over all workers that answer.
        worker_details: each worker that answers, with its counters, by name.
        provider: the device that they compute on; "" where none answers, several joined by commas.
        indexes: of each index with vectors of trifuse, its counts, rate and failures: see `index_status`.
        copies: indexes that trifuse made as copies of others, and how far each is.
        interrupted_loads: the owner's refresh_interval, by index, that a load which runs or was killed has
            still to put back; null is OpenSearch's default. `trifuse sync` does it.
        services: what `trifuse up` started.
        problems: what isn't as it should be, in sentences.
        warnings: what works, but may lose something.
    """

    opensearch_url: str
    redis_url: str | None
    workers: int
    worker_details: tuple[WorkerInfo, ...] = ()
    provider: str
    encoder: str
    indexes: Mapping[str, Any]
    interrupted_loads: Mapping[str, str | None]
    services: tuple[ServiceStatus, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    copies: tuple[CopyStatus, ...] = ()


def status_of(settings: Settings, state: State | None) -> Status:
    """Ask all of them; what doesn't answer is a problem, not an error."""
    services = tuple(_service_status(service) for service in (state.services if state else ()))
    problems = [
        f"{service.name} (process {service.pid}) ended: `trifuse up` starts it again; its log: {service.log}"
        for service in services
        if not service.running
    ]
    answering: list[WorkerInfo] = []
    warnings: tuple[str, ...] = ()
    if settings.redis_url and (why := redis.complaint(settings.redis_url)):
        problems.append(f"Redis doesn't answer at {without_password(settings.redis_url)}: {why}")
    elif settings.broker_url:
        answering = workers(celery_app(settings), timeout_s=WORKERS_S)
        warnings = _store_warnings(settings)
    indexes: dict[str, Any] = {}
    restores: dict[str, str | None] = {}
    copies: list[CopyStatus] = []
    rates = rates_of(answering)
    with opensearch_client(settings) as client:
        try:
            require_opensearch(client, settings)
            for name in embedded_indexes(client):
                try:
                    copies += copies_at(client, name)
                    indexes[name] = index_status(client, name, rates)
                except OpenSearchConnectionError:
                    raise
                except (OpenSearchException, TrifuseError) as error:  # of this index: the others are told
                    problems.append(f"index {name!r}: {error}")
            restores = pending_restores(client)
        except OpenSearchConnectionError:
            problems.append(f"OpenSearch doesn't answer at {without_password(settings.opensearch_url)}")
        except NotAnswering as error:
            problems.append(str(error))
        except (OpenSearchException, TrifuseError) as error:
            problems.append(f"OpenSearch at {without_password(settings.opensearch_url)}: {error}")
    return Status(
        opensearch_url=settings.opensearch_url,
        redis_url=settings.redis_url,
        workers=sum(info.processes for info in answering),
        worker_details=tuple(answering),
        provider=", ".join(sorted({info.provider for info in answering if info.provider})),
        encoder=settings.encoder,
        indexes=indexes,
        interrupted_loads=restores,
        services=services,
        problems=tuple(problems),
        warnings=warnings,
        copies=tuple(copies),
    )


def _store_warnings(settings: Settings) -> tuple[str, ...]:
    if not settings.redis_url:
        return ()
    with redis_client(settings) as store:
        warning = evicting_store(store)
    return (warning,) if warning else ()


def _service_status(service: Service) -> ServiceStatus:
    process = service.process
    return ServiceStatus(
        service.name, process.pid, process.alive(), service.url, str(service.log), service.encoder
    )
