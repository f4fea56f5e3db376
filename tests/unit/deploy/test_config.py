"""Flags, then the environment, then the note of `trifuse up`."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.deploy.config import (
    Settings,
    celery_app,
    opensearch_client,
    redis_client,
    resolve,
    without_password,
)
from trifuse.deploy.errors import NotConfigured
from trifuse.deploy.local.state import State, save_state
from trifuse.encoder import DEFAULT_ENCODER

NOTED = State("http://noted:9200", "redis://noted/0", "redis://noted/1", "noted-encoder")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    save_state(tmp_path, NOTED)
    return tmp_path


def test_without_anything_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=r"trifuse up.*--opensearch.*OPENSEARCH_URL"):
        resolve(environ={}, home=tmp_path)


def test_the_note_alone(home: Path) -> None:
    assert resolve(environ={}, home=home) == Settings(
        "http://noted:9200", "redis://noted/0", "redis://noted/1", "noted-encoder"
    )


def test_the_environment_over_the_note_and_flags_over_both(home: Path) -> None:
    environ = {"REDIS_URL": "redis://env/0", "TRIFUSE_ENCODER": "env-encoder"}

    assert resolve(environ=environ, home=home, encoder="flag-encoder") == Settings(
        "http://noted:9200", "redis://env/0", "redis://env/0", "flag-encoder", True
    )


def test_another_opensearch_is_another_stack(home: Path) -> None:
    assert resolve(opensearch="http://mine:9200", environ={}, home=home) == Settings(
        "http://mine:9200", None, None, DEFAULT_ENCODER
    )


def test_the_same_opensearch_by_name_is_the_noted_stack(home: Path) -> None:
    found = resolve(opensearch="http://noted:9200", environ={}, home=home)

    assert found.redis_url == "redis://noted/0"


def test_the_broker_is_redis_unless_named(tmp_path: Path) -> None:
    environ = {"OPENSEARCH_URL": "http://env:9200", "REDIS_URL": "redis://env/0"}

    assert resolve(environ=environ, home=tmp_path).broker_url == "redis://env/0"
    environ["TRIFUSE_BROKER_URL"] = "redis://broker/3"
    assert resolve(environ=environ, home=tmp_path).broker_url == "redis://broker/3"
    assert resolve(environ=environ, home=tmp_path, broker="redis://flag/4").broker_url == "redis://flag/4"


def test_clients_are_made_without_a_connection(tmp_path: Path) -> None:
    settings = resolve(opensearch="http://nowhere:9200", redis="redis://nowhere/2", environ={}, home=tmp_path)

    with opensearch_client(settings) as client:
        assert client.transport.hosts == [{"host": "nowhere", "port": 9200}]
    with redis_client(settings, timeout_s=1.0) as redis:
        options = redis.connection_pool.connection_kwargs
    assert (options["socket_connect_timeout"], options["socket_timeout"]) == (1.0, 1.0)
    assert celery_app(settings).conf.broker_url == "redis://nowhere/2"


def test_no_redis_is_said_where_one_is_needed() -> None:
    settings = Settings("http://nowhere:9200", None, None, DEFAULT_ENCODER)

    with pytest.raises(NotConfigured, match="REDIS_URL"):
        redis_client(settings)
    with pytest.raises(NotConfigured, match="TRIFUSE_BROKER_URL"):
        celery_app(settings)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:9200", "http://127.0.0.1:9200"),
        ("https://me:s3@cret@search:9200/x?y=1", "https://me:***@search:9200/x?y=1"),
        ("redis://:secret@cache/0", "redis://:***@cache/0"),
        ("redis://user@cache/0", "redis://user@cache/0"),
    ],
)
def test_a_password_is_not_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown
