"""Which services a command talks to: its flags, else the environment, else what `trifuse up` started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from opensearchpy import OpenSearch
from opensearchpy.exceptions import (
    AuthenticationException,
    AuthorizationException,
    OpenSearchException,
    TransportError,
)
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from redis import Redis

from trifuse.deploy.errors import NotAnswering, NotConfigured
from trifuse.deploy.local.places import home_dir
from trifuse.deploy.local.state import load_state
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.indexer.retry import RETRYABLE

if TYPE_CHECKING:
    from trifuse.worker.app import TrifuseCelery

OPENSEARCH = "OPENSEARCH_URL"
REDIS = "REDIS_URL"
BROKER = "TRIFUSE_BROKER_URL"
ENCODER = "TRIFUSE_ENCODER"

CONNECTIONS = 32
"""To OpenSearch, kept open at most: a search asks twice at once, and the client keeps one unless told."""


@dataclass(frozen=True)
class Settings:
    """The services of one command.

    Args:
        redis_url: the click store; None where there is none (the click leg is then neutral).
        broker_url: Celery's broker; the click store where no other is named.
        encoder: a model's name or folder.
        encoder_named: whether it was asked for, by the flag or the environment.
    """

    opensearch_url: str
    redis_url: str | None
    broker_url: str | None
    encoder: str
    encoder_named: bool = False


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
    named = encoder or variables.get(ENCODER)
    return Settings(
        opensearch_url=opensearch_url,
        redis_url=redis_url,
        broker_url=broker or variables.get(BROKER) or noted_broker or redis_url,
        encoder=named or (noted.encoder if noted else DEFAULT_ENCODER),
        encoder_named=bool(named),
    )


def opensearch_client(settings: Settings, *, timeout_s: float = 60.0) -> OpenSearch:
    """A client of the OpenSearch; a request that takes longer than `timeout_s` fails.

    Raises:
        NotConfigured: the URL isn't one.
    """
    try:
        return OpenSearch(hosts=[settings.opensearch_url], timeout=timeout_s, pool_maxsize=CONNECTIONS)
    except ValueError as error:
        raise _no_url(settings.opensearch_url, error, "http://user:password@host:9200", OPENSEARCH) from error


def require_opensearch(client: OpenSearch, settings: Settings) -> OpenSearch:
    """The client, once an OpenSearch has answered it; before anything is asked of what may be another server.

    Raises:
        NotAnswering: something else answers, or refuses the user.
        ConnectionError: of opensearchpy, where nothing does.
    """
    try:
        said = client.info()
    except AuthorizationException:
        return client  # may use indexes, but not ask for this
    except OpenSearchConnectionError:
        raise
    except AuthenticationException as error:
        raise _unusable(settings, "it refuses the user, or wants one (status 401)") from error
    except OpenSearchException as error:
        if isinstance(error, TransportError) and error.status_code in RETRYABLE:
            return client  # no room now: what is asked of it next is tried again, or says so
        found = f"status {error.status_code}" if isinstance(error, TransportError) else str(error)
        raise _unusable(settings, f"what answers there isn't OpenSearch: {found}") from error
    if not isinstance(said, dict) or not isinstance(said.get("version"), dict):
        raise _unusable(settings, "what answers there isn't OpenSearch")
    return client


def _unusable(settings: Settings, why: str) -> NotAnswering:
    return NotAnswering(
        f"OpenSearch can't be used at {without_password(settings.opensearch_url)}: {why}; correct"
        f" --opensearch or {OPENSEARCH} (with a user: http://user:password@host:9200)"
    )


def _no_url(url: str, error: Exception, example: str, variable: str) -> NotConfigured:
    return NotConfigured(
        f"{without_password(url)!r} is no URL that can be used ({error}): write it as {example} ({variable})"
    )


def redis_client(settings: Settings, *, timeout_s: float = 5.0) -> Redis:
    """A client of the click store that decodes what it reads.

    Raises:
        NotConfigured: the settings name none, or what isn't a URL.
    """
    if not settings.redis_url:
        raise NotConfigured(
            f"there is no Redis to talk to: run `trifuse up`, or name one with --redis or {REDIS}"
        )
    try:
        return Redis.from_url(
            settings.redis_url,
            socket_connect_timeout=min(timeout_s, 2.0),
            socket_timeout=timeout_s,
            decode_responses=True,
        )
    except ValueError as error:
        raise _no_url(settings.redis_url, error, "redis://:password@host:6379/0", REDIS) from error


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
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL, but it may hold a password all the same
        return re.sub(r":[^:@]*@", ":***@", url)
    if not parts.password:
        return url
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{place}"))
