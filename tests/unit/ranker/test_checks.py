from __future__ import annotations

from typing import Any

from trifuse.ranker.body import UserBody, read_body
from trifuse.ranker.checks import CHUNK, check_bodies, checked
from trifuse.ranker.server import Answer

MINE = {"term": {"tenant": "a"}}


def user(**body: Any) -> UserBody:
    return read_body(body, depth=100)


def answer(*scored: tuple[float, str], routed: int = 0, **content: Any) -> Answer:
    hits = [{"_index": index, "_score": score} for score, index in scored]
    return Answer(
        200,
        None,
        {"took": 1, "aggregations": {"routed": {"doc_count": routed}}, "hits": {"hits": hits}, **content},
    )


def test_each_document_scores_its_number() -> None:
    (body,) = check_bodies(user(timeout="1s"), ["x", "y"], MINE, indices=1)
    assert body["query"] == {
        "bool": {
            "should": [
                {"term": {"_id": {"value": "x", "boost": 1}}},
                {"term": {"_id": {"value": "y", "boost": 2}}},
            ],
            "minimum_should_match": 1,
            "filter": [MINE],
        }
    }
    assert (body["size"], body["timeout"], body["track_total_hits"]) == (2, "1s", False)
    assert body["stored_fields"] == "_none_"
    assert "_source" not in body


def test_as_many_hits_as_indices_can_have() -> None:
    ids = [str(n) for n in range(CHUNK)]
    (body,) = check_bodies(user(), ids, None, indices=3)
    assert body["size"] == 3 * CHUNK
    (body,) = check_bodies(user(), ids, None, indices=100)
    assert body["size"] == 10_000
    assert body["query"]["bool"]["filter"] == []


def test_what_is_collapsed_on_comes_along() -> None:
    (body,) = check_bodies(user(collapse={"field": "tenant"}), ["x"], None, indices=1)
    assert body["docvalue_fields"] == ["tenant"]


def test_chunks_are_put_together() -> None:
    ids = [f"d{n}" for n in range(2 * CHUNK + 1)]
    bodies = check_bodies(user(), ids, None, indices=1)
    assert [body["size"] for body in bodies] == [CHUNK, CHUNK, 1]
    found = checked([answer((2.0, "i"), (1.0, "i")), answer((500.0, "i")), answer((1.0, "j"))], ids)
    assert found is not None
    assert [(hit["_id"], hit["_index"]) for hit in found.hits] == [
        ("d1", "i"),
        ("d0", "i"),
        ("d999", "i"),
        ("d1000", "j"),
    ]
    assert (found.error, found.partial, found.took_ms) == (None, None, 1)


def test_what_is_missing_of_one_chunk_is_said() -> None:
    ids = [str(n) for n in range(CHUNK + 1)]
    failed = {"total": 2, "failed": 1, "failures": [{"reason": {"reason": "no disk"}}]}
    found = checked([answer((1.0, "i"), took=3), answer(_shards=failed, took=9)], ids)
    assert found is not None
    assert found.partial == "1 of 2 shards failed: no disk"
    assert found.took_ms == 9
    late = checked([answer(timed_out=True), answer()], ids)
    assert late is not None
    assert late.content["timed_out"] is True


def test_where_documents_have_to_be_asked_for_plainly() -> None:
    assert checked([answer((1.0, "i"), routed=1)], ["x"]) is None
    assert checked([Answer(400, {"type": "too_many_clauses"}, {})], ["x"]) is None
    assert checked([Answer(200, None, {"hits": {"hits": []}})], ["x"]) is None
