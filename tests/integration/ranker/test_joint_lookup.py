"""The search for past queries goes along with the legs; what fails of it is no failure of theirs."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.templates import text_hash
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import queries_index, query_id, query_space
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

PROFILE = Profile(clicks=ClickSettings(weighting="share", doubt=0.5), click_budget_s=6.0)


class Counting:
    """A client that notes what is asked of it, also past its own methods."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked += [name] * (name in ("msearch", "search", "transport"))
        return getattr(self._client, name)


@pytest.fixture
def index(client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], tiny: Any) -> str:
    """A document that was clicked for a past query at cosine 1 to "stroke", and one that is near to it."""
    index = make_index(
        [{"_id": "near", "title": "stroke", "angle": 0}, {"_id": "clicked", "title": "asthma"}]
    )
    click = ClickEvent(query="brain attack", doc_id="clicked", event_id="e")
    Intake(client, redis_client, index, min_visitors=1).take([click])
    put(client, index, "brain attack", query_space(tiny.space).id)
    return index


def put(client: OpenSearch, index: str, query: str, space: str) -> None:
    marks = mark(VECTOR_FIELD, space, text_hash(query))
    doc = {"text": query, "normalized": query, VECTOR_FIELD: [1.0, 0.0, 0.0], **marks}
    body = {"doc": doc, "doc_as_upsert": True}
    client.update(index=queries_index(index), id=query_id(query), body=body, params={"refresh": "true"})


def leg(response: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = response["trifuse"]["legs"]["clicks"]
    return found


def test_one_request_for_legs_and_past_queries(
    client: OpenSearch, redis_client: Redis, index: str, tiny: Any
) -> None:
    counting = Counting(client)
    ranker = HybridRanker(counting, tiny, ClickStore(redis_client, counting), PROFILE)  # type: ignore[arg-type]
    response = ranker.search(index, text="stroke")
    assert {hit["_id"] for hit in response["hits"]["hits"]} == {"near", "clicked"}
    assert leg(response)["state"] == "ok"
    # The fields of past queries are read first, and kept for seconds; no search of past queries follows.
    assert counting.asked[:2] == ["transport", "msearch"]
    assert counting.asked.count("transport") == 1


def test_past_queries_of_another_space_are_kept_out_by_a_search_of_their_own(
    client: OpenSearch, redis_client: Redis, index: str, tiny: Any
) -> None:
    """Two of another space are as near, and take the two places: ours is found all the same."""
    for query in ("a", "b"):
        put(client, index, query, "other-1")
    profile = Profile(clicks=ClickSettings(m=2, weighting="share", doubt=0.5), click_budget_s=6.0)
    ranker = HybridRanker(client, tiny, ClickStore(redis_client, client), profile)
    response = ranker.search(index, text="stroke", explain=True)
    assert [query["text"] for query in leg(response)["queries"]] == ["brain attack"]


def test_without_an_index_of_past_queries_the_same_query_counts(
    client: OpenSearch, redis_client: Redis, index: str, tiny: Any
) -> None:
    client.indices.delete(index=queries_index(index))
    ranker = HybridRanker(client, tiny, ClickStore(redis_client, client), PROFILE)
    response = ranker.search(index, text="brain attack")
    assert leg(response)["hits"] == 1
    assert leg(response)["reason"] == f"no past queries yet: there is no index '{queries_index(index)}'"


def test_past_queries_of_another_dimension_fail_alone(
    client: OpenSearch, redis_client: Redis, index: str, tiny: Any
) -> None:
    store = ClickStore(redis_client, client)
    how: dict[str, Any] = {"space": tiny.space, "budget_s": 6.0, "settings": ClickSettings()}
    along = store.similar_search(index, np.ones(5, np.float32), **how, leave_one_out=False)
    assert along is not None
    items = client.msearch(body=[*along, {"index": index}, {"query": {"match_all": {}}}])["responses"]
    assert "error" in items[0]
    assert len(items[1]["hits"]["hits"]) == 2
    found = store.lookup(index, "brain attack", np.ones(5, np.float32), **how, similar=items[0])
    assert (found.state, set(found.scores)) == ("partial", {"clicked"})
    assert "similar past queries weren't found: 400" in str(found.reason)


def test_c6_a_redis_that_is_silent_costs_no_more_than_the_budget(
    client: OpenSearch, index: str, tiny: Any
) -> None:
    profile = Profile(click_budget_s=0.6)
    silent = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
    with silent, Redis(port=silent.getsockname()[1], socket_timeout=30) as redis:
        ranker = HybridRanker(client, tiny, ClickStore(redis, client), profile)
        ranker.search(index, text="stroke")  # the mapping is known from here on
        start = time.monotonic()
        response = ranker.search(index, text="stroke")
        assert time.monotonic() - start < 3
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["near"]
    assert leg(response)["state"] == "failed"
    assert "the click store didn't answer" in leg(response)["reason"]
