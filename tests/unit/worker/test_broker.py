"""Which broker is accepted, by what it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError

from trifuse.indexer.errors import HintsUndelivered
from trifuse.worker.broker import check_broker
from trifuse.worker.errors import BrokerUnsafe


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a Redis answer INFO and CONFIG GET so; None is a refusal."""

    def answer(info: dict[str, Any] | None, config: dict[str, Any] | None) -> None:
        def reply(value: dict[str, Any] | None) -> Callable[..., dict[str, Any]]:
            def call(*_: object) -> dict[str, Any]:
                if value is None:
                    raise NoPermissionError("no permissions to run this command")
                return value

            return call

        monkeypatch.setattr(redis.Redis, "info", reply(info))
        monkeypatch.setattr(redis.Redis, "config_get", reply(config))

    return answer


@pytest.mark.parametrize(
    ("info", "config"),
    [
        ({"maxmemory_policy": "noeviction"}, None),
        ({}, {"maxmemory-policy": "noeviction"}),
        (None, {"maxmemory-policy": "noeviction"}),
    ],
)
def test_a_broker_that_keeps_everything_is_accepted(answers, info, config) -> None:
    answers(info, config)
    assert check_broker("redis://broker:6379/0") == "noeviction"


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_an_evicting_broker_is_refused_with_the_remedy(answers, policy: str) -> None:
    answers({"maxmemory_policy": policy}, None)
    with pytest.raises(
        BrokerUnsafe, match=rf"'{policy}', expected 'noeviction'.*maxmemory-policy noeviction"
    ):
        check_broker("redis://broker:6379/0")


def test_a_broker_that_does_not_tell_is_accepted_with_a_warning(answers, caplog) -> None:
    answers(None, None)
    assert check_broker("rediss://broker:6379/0") is None
    assert "doesn't tell" in caplog.text


@pytest.mark.parametrize("url", ["sentinel://a:26379;sentinel://b:26379", "memory://"])
def test_what_is_not_one_redis_server_is_accepted_with_a_warning(caplog, url: str) -> None:
    assert check_broker(url) is None
    assert "noeviction" in caplog.text


def test_a_broker_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(HintsUndelivered, match=r"redis://127\.0\.0\.1:1/0"):
        check_broker("redis://127.0.0.1:1/0")
