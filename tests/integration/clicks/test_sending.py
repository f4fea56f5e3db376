"""Commands that are sent before the one before them is answered."""

from __future__ import annotations

from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from trifuse.worker.clicks.sending import commands


class Wrapped:
    """A client of another kind: it has no connection of its own to give."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def execute_command(self, *command: Any) -> Any:
        return self._redis.execute_command(*command)


@pytest.mark.parametrize("kind", ["connection", "one by one"])
def test_answers_come_in_the_order_of_the_commands(redis_client: Redis, kind: str) -> None:
    with commands(redis_client if kind == "connection" else Wrapped(redis_client)) as redis:
        redis.send("ECHO", "one")
        redis.send("EVAL", "return {ARGV[1], #KEYS}", 1, "key", b"two")
        assert redis.answer() == "one"
        redis.send("ECHO", "three")
        assert redis.answer() == ["two", 1]
        assert redis.answer() == "three"


def test_answers_that_nobody_took_reach_nobody_else(redis_client: Redis) -> None:
    for _ in range(20):
        with commands(redis_client) as redis:
            redis.send("ECHO", "left")
    assert redis_client.echo("mine") == "mine"
    with commands(redis_client) as redis:
        redis.send("ECHO", "mine, too")
        assert redis.answer() == "mine, too"


def test_an_error_is_raised_where_its_answer_is_due(redis_client: Redis) -> None:
    with pytest.raises(ResponseError, match="unknown command"), commands(redis_client) as redis:
        redis.send("ECHO", "one")
        redis.send("NOTHING")
        redis.send("ECHO", "three")
        assert redis.answer() == "one"
        redis.answer()
    assert redis_client.echo("mine") == "mine"
