"""Sentences over a whole collection: documents by the topic, and their sentences by the aspect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trifuse.ranker.body import read_body
from trifuse.ranker.errors import BodyError
from trifuse.ranker.fusion import Fusion
from trifuse.ranker.ranking import Ranking
from trifuse.ranker.sentence_aspects import (
    aspect_body,
    aspect_response,
    best_by_topic,
    check_one_step,
    shown_body,
    topic_body,
)
from trifuse.ranker.types import Key

TOPICS = {"A": 0.9, "B": 0.5}
CLOSED, OPEN = {"term": {"status": "closed"}}, {"term": {"status": "open"}}
QUERY = {"match": {"text": "stroke"}}


def body(filter: Any = None, **more: Any) -> dict[str, Any]:
    return aspect_body([1.0, 0.0], TOPICS, filter, field="v", similarity="cosine", **more)


def shown(user: dict[str, Any], **more: Any) -> dict[str, Any]:
    return shown_body(body(), read_body(user, depth=100), QUERY, ["trifuse", "v"], **more)


def required(made: dict[str, Any]) -> list[Any]:
    """What a sentence must match."""
    found: list[Any] = made["query"]["bool"]["must"][0]["script_score"]["query"]["bool"]["filter"]
    return found


def test_documents_are_found_by_their_best_sentence() -> None:
    user = {"query": QUERY, "size": 3, "highlight": {"fields": {"text": {}}}, "post_filter": OPEN, "aggs": {}}
    assert topic_body(user) == {
        "query": QUERY,
        "post_filter": OPEN,
        "collapse": {"field": "parent_id"},
        "_source": False,
    }


@pytest.mark.parametrize("key", ["aggs", "rescore", "suggest", "collapse"])
def test_what_only_one_search_can_do_is_refused(key: str) -> None:
    values = {"collapse": {"field": "status"}, "rescore": {"window_size": 100}}
    with pytest.raises(BodyError, match=f"the body's '{key}' can't be used by an aspect over all documents"):
        check_one_step(read_body({key: values.get(key, {})}, depth=100))
    check_one_step(read_body({"track_total_hits": True, "highlight": {}}, depth=100))


def test_a_timeout_holds_for_both_searches() -> None:
    assert body(timeout="1s")["timeout"] == topic_body({"timeout": "1s"})["timeout"] == "1s"


def test_documents_are_told_by_their_best_sentences() -> None:
    keys = (Key("a1", "s"), Key("a2", "s"), Key("b4", "s"))
    scores, groups = np.array([0.9, 0.7, 0.5]), dict(zip(keys, "AAB", strict=True))
    legs = np.zeros((3, 0))
    fusion = Fusion(keys, scores, (), legs, legs, legs.astype(np.int64), np.zeros(0))
    found = best_by_topic(Ranking(fusion, (0, 2), groups))
    assert found == {"A": (keys[0], 0.9), "B": (keys[2], 0.5)}


def test_a_sentence_scores_its_documents_topic_and_its_own_vector() -> None:
    made = body()["query"]["bool"]
    assert [each["constant_score"] for each in made["should"]] == [
        {"filter": {"term": {"parent_id": "A"}}, "boost": pytest.approx(0.4)},
        {"filter": {"term": {"parent_id": "B"}}, "boost": 0.0},
    ]
    (scored,) = made["must"]
    assert scored["script_score"]["script"]["params"]["query_value"] == [1.0, 0.0]


def test_what_holds_for_the_topics_vectors_holds_for_its_sentences() -> None:
    vector, documents = {"exists": {"field": "v"}}, {"terms": {"parent_id": ["A", "B"]}}
    assert required(body()) == [vector, documents]
    assert required(body(OPEN)) == [vector, {"bool": {"filter": [OPEN, documents]}}]


def test_the_page_is_the_users_with_the_topics_words_marked_and_no_vector() -> None:
    made = shown({"highlight": {"fields": {"text": {}}}, "_source": ["text"], "version": True, "from": 5})
    assert made["highlight"] == {"fields": {"text": {}}, "highlight_query": QUERY}
    assert made["_source"] == {"includes": ["text"], "excludes": ["trifuse", "v"]}
    assert made["version"] is True
    assert (made["from"], made["size"]) == (5, 10)
    assert made["docvalue_fields"] == ["parent_id", "parent_routing"]
    assert made["query"] == body()["query"]
    own = {"highlight_query": {"match": {"text": "pain"}}, "fields": {"text": {}}}
    assert shown({"highlight": own})["highlight"] == own
    assert shown({"docvalue_fields": ["section"]})["docvalue_fields"] == [
        "section",
        "parent_id",
        "parent_routing",
    ]


def test_unless_it_is_shown_a_sentence_is_an_id_a_score_and_its_document() -> None:
    made = body()
    assert (made["_source"], made["docvalue_fields"]) == (False, ["parent_id", "parent_routing"])
    assert "highlight" not in made


def test_some_sentences_are_shown_whatever_the_page() -> None:
    made = shown({"from": 5, "size": 1}, ids=["s1", "s2"])
    assert (made["from"], made["size"] >= 2) == (0, True)
    assert made["query"]["bool"] == {
        **body()["query"]["bool"],
        "filter": [{"ids": {"values": ["s1", "s2"]}}],
    }


def test_the_answer_tells_topic_and_aspect_apart() -> None:
    legs = {"dense": {"rank": 1}}
    found = [
        {"fields": {"parent_id": [document]}, "_score": score, "trifuse": {"legs": legs}}
        for document, score in TOPICS.items()
    ]
    first = {
        "took": 3,
        "timed_out": False,
        "hits": {"total": {"value": 2, "relation": "eq"}, "hits": found},
        "trifuse": {"profile": "aspect"},
    }
    explained = {"value": 1.2, "description": "sum of:", "details": []}
    hits = [{"_id": "a1", "_score": 1.2, "fields": {"parent_id": ["A"]}, "_explanation": explained}]
    answer = {
        "took": 4,
        "timed_out": True,
        "_shards": {"total": 1},
        "hits": {"total": {"value": 9, "relation": "eq"}, "hits": hits},
    }
    response = aspect_response(first, answer, TOPICS, "cosine")
    (hit,) = response["hits"]["hits"]
    # 1.2 less the 0.4 by which A is better than B; of a cosine of 0.6 a k-NN query makes (1 + 0.6) / 2.
    assert hit["_score"] == pytest.approx(0.9 + 0.8)
    assert hit["trifuse"] == {
        "topic": 0.9,
        "aspect": {"score": pytest.approx(0.8), "similarity": pytest.approx(0.6)},
        "legs": legs,
    }
    assert hit["_explanation"]["value"] == hit["_score"]
    assert [each["value"] for each in hit["_explanation"]["details"]] == [0.9, pytest.approx(0.8)]
    assert (response["took"], response["timed_out"]) == (3, True)
    assert response["hits"]["total"] == {"value": 9, "relation": "eq"}
    assert response["trifuse"] == {"profile": "aspect"}


def test_there_may_be_more_where_documents_were_left_out() -> None:
    hits = {"total": {"value": 1, "relation": "gte"}, "hits": []}
    first = {"took": 1, "timed_out": False, "hits": hits, "trifuse": {}}
    answer = {"took": 1, "timed_out": False, "_shards": {}, "hits": {"total": {"value": 0}, "hits": []}}
    assert aspect_response(first, answer, TOPICS, "cosine")["hits"]["total"]["relation"] == "gte"
