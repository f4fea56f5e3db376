from __future__ import annotations

from typing import Any, cast

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.ranker.errors import IndexMissing
from trifuse.ranker.targets import Targets


class Indices:
    """Counts what is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.indices = self

    def get(self, *, index: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((index, params))
        if index == "missing":
            raise NotFoundError(404, "index_not_found_exception", {})
        return {f"{index}-{len(self.asked)}": {}}


def made() -> tuple[Indices, Targets, list[float]]:
    client, now = Indices(), [0.0]
    return client, Targets(cast(OpenSearch, client), ttl_s=5.0, clock=lambda: now[0]), now


def test_an_answer_is_kept_for_some_seconds() -> None:
    client, targets, now = made()
    assert targets.read("i", {}).indices == {"i-1"}
    now[0] = 4.9
    assert targets.read("i", {}).indices == {"i-1"}
    now[0] = 5.0
    assert targets.read("i", {}).indices == {"i-2"}
    assert len(client.asked) == 2


def test_each_expression_and_way_to_resolve_it_has_its_own() -> None:
    client, targets, _ = made()
    targets.read("i", {})
    targets.read("j", {})
    targets.read("i", {"expand_wildcards": "all"})
    assert client.asked == [("i", {}), ("j", {}), ("i", {"expand_wildcards": "all"})]


def test_fresh_asks_again() -> None:
    _, targets, _ = made()
    targets.read("i", {})
    assert targets.read("i", {}, fresh=True).indices == {"i-2"}
    assert targets.read("i", {}).indices == {"i-2"}


def test_a_missing_index() -> None:
    _, targets, _ = made()
    with pytest.raises(IndexMissing, match="'missing'"):
        targets.read("missing", {})
