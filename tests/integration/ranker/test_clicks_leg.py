"""The click leg with the real click log."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

PROFILE = Profile(
    weights={"lexical": 0.5, "dense": 0.5, "clicks": 5.0},
    clicks=ClickSettings(weighting="share", temperature=0.05, doubt=0.85, support=1.0),
    click_budget_s=5.0,
)


def test_what_was_clicked_for_a_query_comes_back_under_its_filters(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], tiny: Any
) -> None:
    """`b` has most of the clicks and is another tenant's; `a` is neither a lexical match nor near."""
    index = make_index(
        [
            {"_id": "a", "title": "asthma", "tenant": "x"},
            {"_id": "b", "title": "asthma", "tenant": "y"},
            {"_id": "c", "title": "stroke", "tenant": "x", "angle": 0},
        ]
    )
    Intake(client, redis_client, index).take(
        [
            ClickEvent(query="Stroke ", doc_id=doc, timestamp=time.time(), event_id=f"e{n}")
            for n, doc in enumerate("bba")
        ]
    )
    ranker = HybridRanker(client, tiny, ClickStore(redis_client, client), PROFILE)
    query = {"bool": {"must": [{"match": {"title": "stroke"}}], "filter": [{"term": {"tenant": "x"}}]}}
    response = ranker.search(index, {"query": query}, text="stroke")
    found = {hit["_id"]: hit["trifuse"]["legs"] for hit in response["hits"]["hits"]}
    assert list(found) == ["a", "c"]
    # half of b's clicks, times the query's own weight; times 5 that is more than c's 0.5 + 0.5
    share = 0.5 / (1 + math.exp(-3))
    assert found["a"]["clicks"] == {"score": share, "normalized": share, "weight": 5.0, "rank": 1}
    assert response["trifuse"]["query"] == {"frequency": 3, "segment": "TAIL"}
    assert found["a"]["lexical"] is found["a"]["dense"] is found["c"]["clicks"] is None
    assert response["trifuse"]["legs"]["clicks"]["state"] == "ok"
    assert response["trifuse"]["legs"]["clicks"]["hits"] == 1
    assert (
        "queries" not in response["trifuse"]["legs"]["clicks"]
    )  # other people's words: only where asked for
    explained = ranker.search(index, {"query": query}, text="stroke", explain=True)
    assert explained["trifuse"]["legs"]["clicks"]["queries"] == [
        # against a doubt of 0.85, at temperature 0.05
        {"text": "stroke", "similarity": 1.0, "weight": pytest.approx(1 / (1 + math.exp(-3))), "documents": 2}
    ]


def test_a_past_query_whose_documents_the_other_legs_find_counts_more(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], embed_past: Any, tiny: Any
) -> None:
    """Two past queries at cosine 1; the legs' best document, h = 1, was clicked for one of them.

    Its support is 1² / (1 + 3), so at temperature 0.05 the two weigh e^(1.25/0.05) : e^(1/0.05) = e^5 : 1. A
    doubt of 0.85 leaves them 2 of 2 + e^-3, whatever their support.
    """
    index = make_index([{"_id": "x", "title": "stroke", "angle": 0}, {"_id": "y", "title": "asthma"}])
    clicks = [
        ClickEvent(query=q, doc_id=d, event_id=q) for q, d in (("brain attack", "x"), ("wheezing", "y"))
    ]
    Intake(client, redis_client, index, min_visitors=1).take(clicks)
    embed_past(index, {"brain attack": 0, "wheezing": 0})
    ranker = HybridRanker(client, tiny, ClickStore(redis_client, client), PROFILE)
    response = ranker.search(index, text="stroke")
    believed = 2 / (2 + math.exp(-3))
    total = math.exp(5) + 1
    expected = {"x": 0.5 + 0.5 + 5 * believed * math.exp(5) / total, "y": 5 * believed / total}
    assert {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]} == pytest.approx(expected)
    alone = replace(PROFILE, weights={"clicks": 5})  # nobody to ask
    hits = ranker.search(index, text="stroke", profile=alone)["hits"]["hits"]
    assert [hit["_score"] for hit in hits] == pytest.approx([5 / (2 + math.exp(-3))] * 2)
