"""What a worker is told by its environment, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trifuse.encoder.registry import DEFAULT_ENCODER

OPENSEARCH_URL = "http://localhost:9200"
REDIS_URL = "redis://localhost:6379/0"


@dataclass(frozen=True)
class Settings:
    """Where the services are, and which encoder this worker runs.

    Args:
        opensearch_url: of the search service; user and password may stand in it.
        redis_url: of the click store.
        broker_url: of Celery's broker.
        encoder: a model's name or folder.
        device: `cpu`, `cuda` or `cuda:1`.
        metrics_dir: where the worker's processes leave their counters; None takes a temporary folder.
    """

    opensearch_url: str = OPENSEARCH_URL
    redis_url: str = REDIS_URL
    broker_url: str = REDIS_URL
    encoder: str = DEFAULT_ENCODER
    device: str = "cpu"
    metrics_dir: str | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """The settings of an environment; a variable that is set to "" counts as missing.

        >>> Settings.from_env({"REDIS_URL": "redis://cache:6379/1"}).broker_url
        'redis://cache:6379/1'
        """
        redis_url = env.get("REDIS_URL") or REDIS_URL
        return cls(
            opensearch_url=env.get("OPENSEARCH_URL") or OPENSEARCH_URL,
            redis_url=redis_url,
            broker_url=env.get("TRIFUSE_BROKER_URL") or redis_url,
            encoder=env.get("TRIFUSE_ENCODER") or DEFAULT_ENCODER,
            device=env.get("TRIFUSE_DEVICE") or "cpu",
            metrics_dir=env.get("TRIFUSE_METRICS_DIR") or None,
        )
