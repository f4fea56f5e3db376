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
        clicks_min_visitors: a query that fewer visitors clicked for is kept out of the query index.
        clicks_max_a_day: so many clicks of one visitor count in a day.
        sweep_s: every so many seconds all indexes are swept for documents that lack their vector; 0 never.
        max_search_ms: vectors are written slowly while a search takes longer on average; None goes by how
            long searches took before.

    Raises:
        ValueError: by `from_env`, a number that is none.
    """

    opensearch_url: str = OPENSEARCH_URL
    redis_url: str = REDIS_URL
    broker_url: str = REDIS_URL
    encoder: str = DEFAULT_ENCODER
    device: str = "cpu"
    metrics_dir: str | None = None
    clicks_min_visitors: int = 3
    clicks_max_a_day: int = 100
    sweep_s: int = 600
    max_search_ms: int | None = None

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
            clicks_min_visitors=_number(env, "TRIFUSE_CLICKS_MIN_VISITORS", cls.clicks_min_visitors, 1000),
            clicks_max_a_day=_number(env, "TRIFUSE_CLICKS_MAX_A_DAY", cls.clicks_max_a_day, 10_000),
            sweep_s=_number(env, "TRIFUSE_SWEEP_S", cls.sweep_s, 86_400, least=0),
            max_search_ms=_number(env, "TRIFUSE_MAX_SEARCH_MS", 0, 60_000) or None,
        )


def _number(env: Mapping[str, str], name: str, default: int, most: int, *, least: int = 1) -> int:
    text = env.get(name)
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise ValueError(f"{name} is {text!r}: give a whole number from {least} to {most:,}, or leave it out")
    return int(text)
