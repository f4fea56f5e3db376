"""The services of a demonstration, and the clients that talk to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.config import celery_app, opensearch_client, redis_client, resolve
from trifuse.deploy.demo.narrator import Stage
from trifuse.deploy.local.opensearch import NAME as OPENSEARCH
from trifuse.deploy.local.places import home_dir
from trifuse.deploy.local.redis import NAME as REDIS
from trifuse.deploy.local.state import State, load_state
from trifuse.deploy.local.up import Wanted, default_workers, up
from trifuse.encoder.registry import load_encoder
from trifuse.encoder.spaces import Space
from trifuse.encoder.types import Encoder
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.trial_parts import template_for
from trifuse.ranker import ClickStore, HybridRanker
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.inspection import is_listening

BROKER = "broker"


@dataclass(frozen=True)
class Stack:
    """What the steps work with.

    Args:
        started: names of the services that were started for this, and weren't there before.
        enqueue: queues documents for the workers.
        listening: whether a worker takes the tasks of a space.
    """

    state: State
    started: tuple[str, ...]
    client: OpenSearch
    redis: Redis
    encoder: Encoder
    enqueue: Enqueue
    listening: Callable[[Space], bool]

    @property
    def urls(self) -> dict[str, str]:
        """Where the services are, without passwords, and the encoder."""
        return {
            "opensearch": without_password(self.state.opensearch_url),
            "redis": without_password(self.state.redis_url),
            "encoder": self.state.encoder,
        }

    @property
    def space(self) -> Space:
        """The space of the trials' vectors."""
        return Space(self.encoder.space, template_for(self.encoder.space))

    @property
    def clicks(self) -> ClickStore:
        """The click log's evidence."""
        return ClickStore(self.redis, self.client)

    @property
    def ranker(self) -> HybridRanker:
        """All three signals, by the default profile."""
        return HybridRanker(self.client, self.encoder, self.clicks)


def without_password(url: str) -> str:
    """The URL as it may be shown.

    >>> without_password("https://me:secret@search:9200/x")
    'https://me:***@search:9200/x'
    """
    parts = urlsplit(url)
    if parts.password is None:
        return url
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{place}"))


def given(noted: State | None, name: str) -> str | None:
    """The URL of a service that an earlier `trifuse up` was given, and didn't start: it is used again."""
    if noted is None or any(service.name == name for service in noted.services):
        return None
    if name == BROKER:
        return noted.broker_url if noted.broker_url != noted.redis_url else None
    return {OPENSEARCH: noted.opensearch_url, REDIS: noted.redis_url}[name]


def start_stack(
    *,
    opensearch: str | None,
    redis: str | None,
    broker: str | None,
    encoder: str | None,
    progress: Stage,
) -> Stack:
    """Start what isn't there yet, as `trifuse up` does, and connect.

    Raises:
        LocalServiceError, DownloadFailed, ModelNotFound: each with its remedy.
    """
    home = home_dir()
    noted = load_state(home)
    wanted = Wanted(
        home=home,
        data=home,
        opensearch_url=opensearch or given(noted, OPENSEARCH),
        redis_url=redis or given(noted, REDIS),
        broker_url=broker or given(noted, BROKER),
        encoder=encoder,
        workers=default_workers(),
    )
    state, started = up(wanted, progress=progress)
    state = replace(state, encoder=encoder or state.encoder)  # others may have workers, too
    settings = resolve(
        opensearch=state.opensearch_url,
        redis=state.redis_url,
        broker=state.broker_url,
        encoder=state.encoder,
    )
    app = celery_app(settings)
    return Stack(
        state=state,
        started=tuple(service.name for service in started),
        client=opensearch_client(settings),
        redis=redis_client(settings),
        encoder=load_encoder(state.encoder),
        enqueue=celery_enqueue(app),
        listening=lambda space: is_listening(app, space.encoder),
    )
