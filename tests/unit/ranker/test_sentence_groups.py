"""Sentences by document; documents in the order of their best sentence."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.sentence_groups import by_document, filled, ids_shown


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


def test_sentences_that_were_ranked_alone_are_filled_in() -> None:
    found = by_document(RANKED, sentences=2, start=0, size=2)
    assert ids_shown(found) == ["a0", "a1", "b0"]
    whole = [
        {"_id": name, "_index": "s", "_score": score, "_source": {"text": name}}
        for name, score in (("b0", 1.8), ("a1", 1.7))
    ]
    # a0 was deleted meanwhile: its document's best is now a1.
    hits = filled(found, whole)
    assert shown({"hits": hits}) == [("a1", ["a1"], 3), ("b0", ["b0"], 1)]
    assert [(each["_score"], each["_source"]) for each in hits["hits"]] == [
        (1.7, {"text": "a1"}),
        (1.8, {"text": "b0"}),
    ]
    assert hits["hits"][1]["inner_hits"]["sentences"]["hits"]["max_score"] == hits["hits"][1]["_score"]
    assert (hits["total"], hits["max_score"]) == ({"value": 3, "relation": "eq"}, 1.7)
    assert filled(found, [])["hits"] == []
