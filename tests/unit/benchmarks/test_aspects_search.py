"""Searches by topic and aspect on vectors at hand: the ranker's requests and responses say the same."""

from __future__ import annotations

import numpy as np
import pytest
from aspects_search import Sentences, in_two_steps, topic_then_aspect

from trifuse.ranker.sentence_aspects import DOCUMENTS, aspect_body, aspect_response

OWNER = np.array([0, 0, 1, 1, 2])
TOPIC = np.array([0.9, 0.1, 0.5, 0.8, 0.2])
ASPECT = np.array([0.0, 0.4, 0.8, 0.3, 1.0])


def test_a_sentence_scores_its_documents_best_by_the_topic_and_its_own_aspect() -> None:
    # 0.9 + (1 + 0) / 2, 0.9 + (1 + 0.4) / 2; 0.8 + 0.9, 0.8 + 0.65; 0.2 + 1
    assert topic_then_aspect(TOPIC, ASPECT, OWNER) == pytest.approx([1.4, 1.6, 1.7, 1.45, 1.2])


def test_documents_of_none_of_the_nearest_sentences_come_last_in_the_order_of_the_aspect() -> None:
    scores = topic_then_aspect(TOPIC, ASPECT, OWNER, depth=2)
    assert scores[:4] == pytest.approx([1.4, 1.6, 1.7, 1.45])
    assert scores[4] < 0
    one = topic_then_aspect(TOPIC, ASPECT, OWNER, depth=1)
    assert np.argsort(-one, kind="stable").tolist() == [1, 0, 4, 2, 3]


def test_no_more_documents_are_looked_into_than_by_a_search() -> None:
    many = DOCUMENTS + 10
    topic = np.linspace(0.9, 0.1, many)
    scores = topic_then_aspect(topic, np.zeros(many), np.arange(many))
    assert int((scores > 0).sum()) == DOCUMENTS
    assert scores[0] == pytest.approx(1.4)


def _by_the_ranker() -> list[tuple[int, float]]:
    """What the ranker asks for and answers, for a server that scores these cosines as OpenSearch does."""
    topics = {"0": 0.9, "1": 0.8, "2": 0.2}
    first = {
        "took": 0,
        "timed_out": False,
        "trifuse": {},
        "hits": {
            "total": {"relation": "eq"},
            "hits": [
                {"fields": {"parent_id": [document]}, "_score": score, "trifuse": {"legs": {}}}
                for document, score in topics.items()
            ],
        },
    }
    body = aspect_body([1.0], topics, None, field="v", similarity="cosine")
    added = [each["constant_score"] for each in body["query"]["bool"]["should"]]
    boosts = {each["filter"]["term"]["parent_id"]: each["boost"] for each in added}
    hits = [
        {"_id": str(at), "fields": {"parent_id": [str(of)]}, "_score": boosts[str(of)] + (1 + cosine) / 2}
        for at, (of, cosine) in enumerate(zip(OWNER.tolist(), ASPECT.tolist(), strict=True))
    ]
    hits.sort(key=lambda hit: -hit["_score"])
    answer = {"took": 0, "timed_out": False, "_shards": {}, "hits": {"total": {"value": 5}, "hits": hits}}
    response = aspect_response(first, answer, topics, "cosine")
    return [(int(hit["_id"]), hit["_score"]) for hit in response["hits"]["hits"]]


def test_the_ranker_scores_and_orders_alike() -> None:
    scores = topic_then_aspect(TOPIC, ASPECT, OWNER)
    ranked = _by_the_ranker()
    assert [score for _, score in ranked] == pytest.approx([scores[at] for at, _ in ranked])
    assert [at for at, _ in ranked] == np.argsort(-scores, kind="stable").tolist() == [2, 1, 3, 0, 4]


def test_topics_are_asked_by_the_plain_encoder_and_aspects_by_the_adapter() -> None:
    vectors = [np.eye(2, dtype=np.float32), np.array([[0.6, 0.8]], dtype=np.float32)]
    plain = np.array([[1.0, 0.0]], dtype=np.float32)
    adapted = np.array([[0.0, 1.0]], dtype=np.float32)
    way = in_two_steps(lambda topics, aspect: plain, lambda topics, aspect: adapted)
    (scores,) = way(Sentences.of(vectors), ["zinc"], "outcome")
    assert scores == pytest.approx([1.0 + 0.5, 1.0 + 1.0, 0.6 + 0.9])
