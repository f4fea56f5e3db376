"""What is said of a click store that throws keys away."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError

from trifuse.worker.app import create_app
from trifuse.worker.eviction import evicting_store
from trifuse.worker.settings import Settings
from trifuse.worker.startup import warn_of_evicting_store


class Store:
    """A Redis that answers INFO and CONFIG GET so; an error is raised."""

    def __init__(self, info: Any, config: Any) -> None:
        self._info, self._config = info, config

    def info(self, section: str) -> Any:
        """INFO."""
        return _answer(self._info)

    def config_get(self, name: str) -> Any:
        """CONFIG GET."""
        return _answer(self._config)


def _answer(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


FORBIDDEN = NoPermissionError("no permissions to run this command")


@pytest.mark.parametrize(
    ("info", "config"),
    [
        ({"maxmemory_policy": "allkeys-lru"}, FORBIDDEN),
        (FORBIDDEN, {"maxmemory-policy": "volatile-ttl"}),
        ({}, {"maxmemory-policy": "allkeys-lfu"}),
    ],
)
def test_an_evicting_store_is_warned_of_with_the_remedy(info: Any, config: Any) -> None:
    warning = evicting_store(Store(info, config))
    assert warning is not None
    policy = {**(info if isinstance(info, dict) else {}), **(config if isinstance(config, dict) else {})}
    assert f"maxmemory-policy is {next(iter(policy.values()))!r}, expected 'noeviction'" in warning
    assert "clicks rebuild" in warning


@pytest.mark.parametrize(
    ("info", "config"),
    [
        ({"maxmemory_policy": "noeviction"}, FORBIDDEN),
        (FORBIDDEN, FORBIDDEN),
        ({}, {}),
        (RedisConnectionError("gone"), RedisConnectionError("gone")),
        (OSError("gone"), OSError("gone")),
    ],
)
def test_a_store_that_keeps_all_or_says_nothing_is_not(info: Any, config: Any) -> None:
    assert evicting_store(Store(info, config)) is None


@pytest.mark.parametrize(("policy", "warnings"), [("allkeys-lru", 1), ("noeviction", 0)])
def test_a_worker_warns_once_when_it_starts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, policy: str, warnings: int
) -> None:
    monkeypatch.setattr(redis.Redis, "info", lambda *_: {"maxmemory_policy": policy})
    app = create_app(Settings(broker_url="memory://"))
    warn_of_evicting_store(sender=SimpleNamespace(app=app, concurrency=2))
    assert [record.getMessage().count(f"{policy!r}, expected") for record in caplog.records] == [1] * warnings


def test_workers_of_other_apps_and_stores_that_are_down_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_evicting_store(sender=SimpleNamespace(app=object()))
    app = create_app(Settings(redis_url="redis://127.0.0.1:1/0", broker_url="memory://"))
    warn_of_evicting_store(sender=SimpleNamespace(app=app))
    assert not caplog.records
