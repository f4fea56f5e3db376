"""Which services a command talks to: its flags, else the environment, else what `trifuse up` started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.errors import NotConfigured
from trifuse.deploy.local.places import home_dir
from trifuse.deploy.local.state import load_state
from trifuse.encoder.registry import DEFAULT_ENCODER

if TYPE_CHECKING:
    from trifuse.worker.app import TrifuseCelery

OPENSEARCH = "OPENSEARCH_URL"
REDIS = "REDIS_URL"
BROKER = "TRIFUSE_BROKER_URL"
ENCODER = "TRIFUSE_ENCODER"


@dataclass(frozen=True)
class Settings:
    """The services of one command.

    Args:
        redis_url: the click store; None where there is none (the click leg is then neutral).
        broker_url: Celery's broker; the click store where no other is named.
        encoder: a model's name or folder.
    """

    opensearch_url: str
    redis_url: str | None
    broker_url: str | None
    encoder: str


def resolve(
    *,
    opensearch: str | None = None,
    redis: str | None = None,
    broker: str | None = None,
    encoder: str | None = None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Settings:
    """The settings, each from the first of: the flag, the environment, the note of `trifuse up`.

    The note counts only for the OpenSearch that it names: with another one, its Redis and encoder are not
    that stack's.

    Raises:
        NotConfigured: there is no OpenSearch anywhere.
    """
    variables = os.environ if environ is None else environ
    opensearch_url = opensearch or variables.get(OPENSEARCH)
    noted = load_state(home_dir(variables) if home is None else home)
    if noted and opensearch_url not in (None, noted.opensearch_url):
        noted = None
    opensearch_url = opensearch_url or (noted.opensearch_url if noted else None)
    if not opensearch_url:
        raise NotConfigured(
            "there is no OpenSearch to talk to: run `trifuse up`, or name one with --opensearch or"
            f" {OPENSEARCH}"
        )
    redis_url = redis or variables.get(REDIS) or (noted.redis_url if noted else None)
    noted_broker = noted.broker_url if noted and redis_url == noted.redis_url else None
    return Settings(
        opensearch_url=opensearch_url,
        redis_url=redis_url,
        broker_url=broker or variables.get(BROKER) or noted_broker or redis_url,
        encoder=encoder or variables.get(ENCODER) or (noted.encoder if noted else DEFAULT_ENCODER),
    )


def opensearch_client(settings: Settings, *, timeout_s: float = 60.0) -> OpenSearch:
    """A client of the OpenSearch; a request that takes longer than `timeout_s` fails."""
    return OpenSearch(hosts=[settings.opensearch_url], timeout=timeout_s)


def redis_client(settings: Settings, *, timeout_s: float = 5.0) -> Redis:
    """A client of the click store that decodes what it reads.

    Raises:
        NotConfigured: the settings name none.
    """
    if not settings.redis_url:
        raise NotConfigured(
            f"there is no Redis to talk to: run `trifuse up`, or name one with --redis or {REDIS}"
        )
    return Redis.from_url(
        settings.redis_url,
        socket_connect_timeout=min(timeout_s, 2.0),
        socket_timeout=timeout_s,
        decode_responses=True,
    )


def celery_app(settings: Settings) -> TrifuseCelery:
    """A Celery app that sends to the settings' broker.

    Raises:
        NotConfigured: the settings name none.
    """
    from trifuse.worker.app import create_app
    from trifuse.worker.settings import Settings as WorkerSettings

    if not settings.broker_url:
        raise NotConfigured(
            "there is no broker to queue work on: run `trifuse up`, or name a Redis with --broker, --redis,"
            f" {BROKER} or {REDIS}"
        )
    return create_app(
        WorkerSettings(
            opensearch_url=settings.opensearch_url,
            redis_url=settings.redis_url or settings.broker_url,
            broker_url=settings.broker_url,
            encoder=settings.encoder,
        )
    )


def without_password(url: str) -> str:
    """A URL as it may be shown.

    >>> without_password("https://me:secret@search:9200/x")
    'https://me:***@search:9200/x'
    """
    parts = urlsplit(url)
    if not parts.password:
        return url
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{place}"))
