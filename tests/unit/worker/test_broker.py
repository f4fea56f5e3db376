"""Which broker is accepted, by what it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.errors import HintsUndelivered
from trifuse.worker.app import create_app
from trifuse.worker.broker import check_broker
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.errors import BrokerUnsafe
from trifuse.worker.settings import Settings


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


@pytest.mark.parametrize("url", ["redis://me:secret@[::1", "redis://:secret@host:99999"])
def test_a_url_that_is_none_is_an_error_without_its_password(url: str) -> None:
    with pytest.raises(HintsUndelivered, match="is no URL of a broker") as caught:
        check_broker(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://host:9200", "redis://[::1", "redis://127.0.0.1:1/abc"])
def test_hints_for_a_url_that_is_none_are_undelivered(url: str) -> None:
    enqueue = celery_enqueue(create_app(Settings(broker_url=url)))
    space = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
    with pytest.raises(HintsUndelivered, match=r"is no URL of a broker.*--broker"):
        enqueue("trials", "v", space, [("1", None)])
