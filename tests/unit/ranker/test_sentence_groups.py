"""Sentences by document; documents in the order of their best sentence."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.sentence_groups import Group, by_document, filled, groups_body, groups_of


def hit(
    name: str, document: str, score: float, *, routing: str | None = None, index: str = "s"
) -> dict[str, Any]:
    fields = {"parent_id": [document], **({"parent_routing": [routing]} if routing else {})}
    return {"_id": name, "_index": index, "_score": score, "fields": fields}


def response(*hits: dict[str, Any], total: int | None = None, relation: str = "eq") -> dict[str, Any]:
    counted = {"value": len(hits) if total is None else total, "relation": relation}
    return {"took": 1, "hits": {"total": counted, "max_score": 0.9, "hits": list(hits)}, "trifuse": {}}


RANKED = response(
    hit("a0", "A", 0.9), hit("b0", "B", 0.8), hit("a1", "A", 0.7), hit("a2", "A", 0.6), hit("c0", "C", 0.5)
)


def shown(found: dict[str, Any]) -> list[tuple[str, list[str], int]]:
    """Document's best, its inner hits, how many there are."""
    rows = []
    for each in found["hits"]["hits"]:
        inner = each["inner_hits"]["sentences"]["hits"]
        rows.append((each["_id"], [one["_id"] for one in inner["hits"]], inner["total"]["value"]))
    return rows


def test_the_best_of_each() -> None:
    found = by_document(RANKED, sentences=2, start=0, size=10)
    assert shown(found) == [("a0", ["a0", "a1"], 3), ("b0", ["b0"], 1), ("c0", ["c0"], 1)]
    assert found["hits"]["total"] == {"value": 3, "relation": "eq"}
    assert found["hits"]["max_score"] == 0.9
    assert found["hits"]["hits"][0]["inner_hits"]["sentences"]["hits"]["max_score"] == 0.9


def test_a_page_counts_documents() -> None:
    assert [row[0] for row in shown(by_document(RANKED, sentences=1, start=1, size=1))] == ["b0"]
    assert shown(by_document(RANKED, sentences=1, start=3, size=5)) == []
    assert by_document(RANKED, sentences=1, start=0, size=0)["hits"]["total"]["value"] == 3


@pytest.mark.parametrize(("total", "relation"), [(9, "eq"), (5, "gte"), (9, "gte")])
def test_where_sentences_were_not_ranked_there_may_be_more(total: int, relation: str) -> None:
    cut = response(*RANKED["hits"]["hits"], total=total, relation=relation)
    found = by_document(cut, sentences=1, start=0, size=1)
    assert found["hits"]["total"] == {"value": 3, "relation": "gte"}
    assert found["hits"]["hits"][0]["inner_hits"]["sentences"]["hits"]["total"] == {
        "value": 3,
        "relation": "gte",
    }


def test_no_total_is_made_up_where_none_was_asked_for() -> None:
    given = {**RANKED, "hits": {"max_score": 0.9, "hits": RANKED["hits"]["hits"]}}
    assert "total" not in by_document(given, sentences=1, start=0, size=1)["hits"]


def test_an_id_under_two_routings_or_in_two_indices_is_two_documents() -> None:
    ranked = response(
        hit("x", "A", 0.9, routing="r"), hit("y", "A", 0.8), hit("z", "A", 0.7, index="t"), hit("u", "A", 0.6)
    )
    assert shown(by_document(ranked, sentences=3, start=0, size=9)) == [
        ("x", ["x"], 1),
        ("y", ["y", "u"], 2),
        ("z", ["z"], 1),
    ]


def test_nothing_found() -> None:
    found = by_document(response(), sentences=1, start=0, size=10)
    assert found["hits"]["hits"] == []
    assert found["hits"]["total"] == {"value": 0, "relation": "eq"}


def bucket(key: str, name: str, *below: dict[str, Any]) -> dict[str, Any]:
    return {"key": key, name: {"buckets": list(below)}}


def ranked(index: str, number: int, *best: tuple[str, float]) -> dict[str, Any]:
    hits = [{"_id": name, "_index": index, "_score": score} for name, score in best]
    return {"key": index, "doc_count": number, "sentences": {"hits": {"hits": hits}}}


def test_documents_are_told_apart_by_the_server_by_id_routing_and_index() -> None:
    made = groups_body({"query": {"match_all": {}}, "_source": False}, sentences=3, documents=50)
    assert (made["query"], made["size"]) == ({"match_all": {}}, 0)
    (ids,) = made["aggs"].values()
    (routings,) = ids["aggs"].values()
    (indices,) = routings["aggs"].values()
    assert ids["terms"] == {"field": "parent_id", "size": 50}
    assert (routings["terms"]["field"], routings["terms"]["missing"]) == ("parent_routing", "")
    assert indices["terms"]["field"] == "_index"
    assert indices["aggs"]["sentences"]["top_hits"] == {"size": 3, "_source": False}
    deep = groups_body({}, sentences=1000, documents=50)["aggs"]["parent_id"]["aggs"]["parent_routing"]
    assert deep["aggs"]["_index"]["aggs"]["sentences"]["top_hits"]["size"] == 100


def test_documents_are_in_the_order_of_their_best_sentences() -> None:
    one = bucket("A", "parent_routing", bucket("", "_index", ranked("s", 4, ("a0", 0.5), ("a1", 0.4))))
    other = bucket(
        "B",
        "parent_routing",
        bucket("", "_index", ranked("s", 1, ("b0", 0.2)), ranked("t", 1, ("b1", 0.3))),
        bucket("r", "_index", ranked("s", 7, ("b2", 0.9))),
    )
    found = groups_of({"aggregations": {"parent_id": {"buckets": [one, other]}}})
    assert [([hit["_id"] for hit in group.hits], group.number) for group in found] == [
        (["b2"], 7),
        (["a0", "a1"], 4),
        (["b1"], 1),
        (["b0"], 1),
    ]


def test_sentences_that_were_ranked_are_filled_in() -> None:
    best = [Group([hit("a0", "A", 0.9), hit("a1", "A", 0.7)], 3), Group([hit("b0", "B", 0.8)], 1)]
    whole = [
        {"_id": name, "_index": "s", "_score": score, "_source": {"text": name}}
        for name, score in (("b0", 1.8), ("a1", 1.7))
    ]
    # a0 was deleted meanwhile: its document's best is now a1.
    hits = filled(best, whole)
    assert shown({"hits": {"hits": hits}}) == [("a1", ["a1"], 3), ("b0", ["b0"], 1)]
    assert [(each["_score"], each["_source"]) for each in hits] == [
        (1.7, {"text": "a1"}),
        (1.8, {"text": "b0"}),
    ]
    inner = hits[1]["inner_hits"]["sentences"]["hits"]
    assert (inner["max_score"], inner["total"]["relation"]) == (1.8, "eq")
    assert filled(best, []) == []
