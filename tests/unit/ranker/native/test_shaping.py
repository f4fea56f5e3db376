from __future__ import annotations

from typing import Any, cast

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.ranker.errors import ProfileNotNative, SearchRejected
from trifuse.ranker.native.shaping import TTL_S, Shaping

RENAMING = {"rename_field": {"field": "a", "target_field": "b"}}


class Pipelines:
    """Stands for the client; counts how often it is asked."""

    def __init__(self, **known: Any) -> None:
        self.known = known
        self.asked = 0
        self.search_pipeline = self

    def get(self, *, id: str) -> dict[str, Any]:
        self.asked += 1
        if id not in self.known:
            raise NotFoundError(404, "resource_not_found_exception", {})
        return {id: self.known[id]}


def shaping(now: list[float], **known: Any) -> tuple[Pipelines, Shaping]:
    client = Pipelines(**known)
    return client, Shaping(cast(OpenSearch, client), clock=lambda: now[0])


def test_processors_of_the_response_are_kept_for_some_seconds() -> None:
    now = [100.0]
    client, found = shaping(now, p={"response_processors": [RENAMING], "phase_results_processors": [{}]})
    assert found.processors("p") == found.processors("p") == [RENAMING]
    assert client.asked == 1
    now[0] += TTL_S
    assert found.processors("p") == [RENAMING]
    assert client.asked == 2
    assert found.processors(None) == []
    assert client.asked == 2


def test_a_pipeline_that_changes_requests() -> None:
    _, found = shaping([0.0], p={"request_processors": [{"filter_query": {}}, {"oversample": {}}]})
    with pytest.raises(ProfileNotNative, match=r"'p' changes requests \(filter_query, oversample\)"):
        found.processors("p")


def test_a_pipeline_that_is_not_there() -> None:
    _, found = shaping([0.0])
    with pytest.raises(SearchRejected, match="default search pipeline 'p' isn't there: make it") as refused:
        found.processors("p")
    assert refused.value.status == 400
