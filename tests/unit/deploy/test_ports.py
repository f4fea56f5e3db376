"""Ports, against real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from trifuse.deploy.errors import PortInUse
from trifuse.deploy.local.ports import free_port, is_free, require_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_free_port_can_be_listened_on() -> None:
    port = free_port()

    assert is_free(port)
    with socket.create_server(("127.0.0.1", port)):
        assert not is_free(port)


def test_a_free_port_is_none_that_clients_get() -> None:
    assert free_port() in range(10_000, 32_768)


def test_the_preferred_port_only_where_it_is_free(taken: int) -> None:
    free = free_port()

    assert free_port(prefer=free) == free
    assert free_port(prefer=taken) != taken


def test_a_port_in_use_is_one_sentence_with_the_remedy(taken: int) -> None:
    with pytest.raises(PortInUse) as caught:
        require_free(taken, service="OpenSearch", option="--opensearch-port", variable="OPENSEARCH_URL")

    message = str(caught.value)
    assert str(taken) in message
    assert "--opensearch-port" in message
    assert "OPENSEARCH_URL" in message
    assert "\n" not in message
