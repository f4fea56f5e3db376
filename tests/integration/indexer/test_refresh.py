"""The owner's refresh interval comes back, whatever ends a load."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.load import load
from trifuse.indexer.readers import Record
from trifuse.indexer.refresh import (
    LOAD_INTERVAL,
    pending_restores,
    rare_refreshes,
    restore_refresh,
    save_refresh,
)

LOAD = """
import sys, time
from opensearchpy import OpenSearch
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.load import load
from trifuse.indexer.readers import Record
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial

def records():
    yield Record(Trial(nct_id="T1"), "f.json")
    yield Record(Trial(nct_id="T2"), "f.json")
    print("loading", flush=True)
    time.sleep(60)

space = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TRIAL_TEMPLATE)
load(OpenSearch(sys.argv[1]), records(), sys.argv[2], space=space, batch_items=1)
"""


def _interval(client: OpenSearch, index: str) -> str | None:
    settings = client.indices.get_settings(index=index)[index]["settings"]["index"]
    value: str | None = settings.get("refresh_interval")
    return value


def _set(client: OpenSearch, index: str, interval: str | None) -> None:
    client.indices.put_settings(index=index, body={"index": {"refresh_interval": interval}})


def _interrupted(url: str, index: str, number: signal.Signals) -> None:
    """A load in a process of its own, that is sent a signal in its middle."""
    arguments = [sys.executable, "-c", LOAD, url, index]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(number)
        assert process.wait(timeout=30) != 0


@pytest.mark.parametrize("owners", ["7s", None, "-1"])
def test_b6_restored_at_the_end(
    client: OpenSearch, index_name: str, space: Space, record: Callable[..., Record], owners: str | None
) -> None:
    during = []
    load(client, [], index_name, space=space)
    _set(client, index_name, owners)
    load(
        client,
        [record(1)],
        index_name,
        space=space,
        progress=lambda report: during.append(_interval(client, index_name)),
    )
    assert during == ["-1" if owners == "-1" else LOAD_INTERVAL]
    assert _interval(client, index_name) == owners


def test_b6_restored_after_ctrl_c(services: Any, client: OpenSearch, index_name: str, space: Space) -> None:
    load(client, [], index_name, space=space)
    _set(client, index_name, "7s")
    _interrupted(services.opensearch_url, index_name, signal.SIGINT)
    assert _interval(client, index_name) == "7s"
    assert pending_restores(client, index_name) == {}


def test_b6_restored_by_the_next_sync_after_kill(
    services: Any, client: OpenSearch, index_name: str, space: Space
) -> None:
    """`pending_restores` is what `status` shows, `restore_refresh` what `sync` begins with."""
    load(client, [], index_name, space=space)
    _set(client, index_name, "7s")
    _interrupted(services.opensearch_url, index_name, signal.SIGKILL)
    assert _interval(client, index_name) == LOAD_INTERVAL
    assert pending_restores(client, index_name) == {index_name: "7s"}
    assert restore_refresh(client, index_name) == {index_name: "7s"}
    assert _interval(client, index_name) == "7s"
    assert restore_refresh(client, index_name) == {}


def test_b6_restored_by_the_next_load_after_kill(
    services: Any, client: OpenSearch, index_name: str, space: Space, record: Callable[..., Record]
) -> None:
    """The value that the killed load left isn't taken for the owner's."""
    load(client, [], index_name, space=space)
    _set(client, index_name, "7s")
    _interrupted(services.opensearch_url, index_name, signal.SIGKILL)
    report = load(client, [record(1)], index_name, space=space)
    assert (report.read, report.indexed) == (1, 1)
    assert _interval(client, index_name) == "7s"


def test_two_loads_that_overlap(client: OpenSearch, index_name: str, space: Space) -> None:
    load(client, [], index_name, space=space)
    _set(client, index_name, "7s")
    with rare_refreshes(client, index_name):
        with rare_refreshes(client, index_name):
            assert _interval(client, index_name) == LOAD_INTERVAL
        assert _interval(client, index_name) == "7s"
    assert _interval(client, index_name) == "7s"


def test_through_an_alias_each_index_gets_its_own_back(
    client: OpenSearch, index_name: str, space: Space
) -> None:
    names = [f"{index_name}-1", f"{index_name}-2"]
    for number, name in enumerate(names):
        load(client, [], name, space=space)
        _set(client, name, f"{number + 3}s")
        client.indices.put_alias(index=name, name=index_name)
    save_refresh(client, index_name)
    assert pending_restores(client, f"{index_name}*") == {names[0]: "3s", names[1]: "4s"}
    restore_refresh(client, index_name)
    assert [_interval(client, name) for name in names] == ["3s", "4s"]


def test_an_index_that_is_gone_has_nothing_to_restore(client: OpenSearch, index_name: str) -> None:
    save_refresh(client, index_name)
    assert restore_refresh(client, index_name) == {}
    assert pending_restores(client, index_name) == {}
