"""Which services a demonstration uses, and how their URLs are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.deploy.demo.stack import BROKER, OPENSEARCH, REDIS, given, without_password
from trifuse.deploy.local.processes import Process
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.state import State

SEARCH, STORE = "https://search:9200", "redis://store:6379/0"


def _state(*started: str, broker: str = STORE) -> State:
    services = tuple(Service(name, "", Process(1, "1"), (Path("log"),)) for name in started)
    return State(SEARCH, STORE, broker, "an-encoder", services)


def test_services_that_up_was_given_are_used_again() -> None:
    noted = _state(broker="redis://queue:6379/1")
    assert [given(noted, name) for name in (OPENSEARCH, REDIS, BROKER)] == [
        SEARCH,
        STORE,
        "redis://queue:6379/1",
    ]


def test_services_that_up_started_are_left_to_it() -> None:
    noted = _state(OPENSEARCH, REDIS)
    assert [given(noted, name) for name in (OPENSEARCH, REDIS, BROKER)] == [None, None, None]


def test_without_a_note_nothing_is_given() -> None:
    assert given(None, OPENSEARCH) is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:9200", "http://127.0.0.1:9200"),
        ("redis://:secret@store:6379/0", "redis://:***@store:6379/0"),
        ("https://me:p%40ss@search:9200/x", "https://me:***@search:9200/x"),
        ("https://me@search:9200", "https://me@search:9200"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown
