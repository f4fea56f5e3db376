"""Clicked documents that no other leg brought: there or not, under the filters, whatever their routing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings

STROKE = {"query": {"match": {"title": "stroke"}}}
MINE = {"term": {"tenant": "a"}}
LEXICAL = Profile.from_dict(
    {
        "weights": {"lexical": 1, "clicks": 1},
        "normalization": "min_max",
        "clicks": {"candidates": 10_000},
    }
)


class Counting:
    """A client that notes what is asked of it."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked += [name] * (name in ("msearch", "search"))
        return getattr(self._client, name)


def by_clicks(response: Mapping[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["clicks"]]


def test_more_than_fit_into_one_query(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    """1,240 were clicked, of which every third is another tenant's, and the 40 most clicked are gone.

    Under the filter all are checked: 800. Without one the best 150 are, more than any page can show: 110.
    """
    index = make_index([{"_id": f"d{n}", "tenant": "b" if n % 3 == 0 else "a"} for n in range(1200)])
    scores = {f"d{n}": 1.0 + n for n in reversed(range(1240))}
    ranker = HybridRanker(client, None, given_clicks(scores), LEXICAL)
    mine = ranker.search(index, STROKE, text="stroke", filter=MINE, size=100)
    assert by_clicks(mine) == [f"d{n}" for n in reversed(range(1200)) if n % 3][:100]
    assert mine["trifuse"]["legs"]["clicks"]["hits"] == 800
    everything = ranker.search(index, STROKE, text="stroke", size=100)
    assert by_clicks(everything) == [f"d{n}" for n in reversed(range(1100, 1200))]
    assert everything["trifuse"]["legs"]["clicks"]["hits"] == 110
    assert everything["hits"]["total"] == {"value": 110, "relation": "gte"}


def test_the_page_comes_along_where_all_are_there(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    """Two requests: the legs, and the check with the page. As many as without clicks."""
    index = make_index([{"_id": "1", "title": "stroke"}, {"_id": "2", "title": "asthma"}])
    body = {**STROKE, "highlight": {"fields": {"title": {}}}, "version": True}
    plain = HybridRanker(client, profile=LEXICAL).search(index, body, text="stroke")["hits"]["hits"]
    counting = Counting(client)
    ranker = HybridRanker(counting, None, given_clicks({"2": 1.0}), LEXICAL)  # type: ignore[arg-type]
    hits = ranker.search(index, body, text="stroke")["hits"]["hits"]
    assert counting.asked == ["msearch", "msearch"]
    assert [hit["_id"] for hit in hits] == ["1", "2"]
    assert hits[1]["_source"] == {"title": "asthma"}
    shown = ("_source", "highlight", "_version", "_index")
    assert {key: hits[0][key] for key in shown} == {key: plain[0][key] for key in shown}


def test_a_clicked_document_that_is_not_there_takes_no_place_on_the_page(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    """It and another tenant's were first on the page that was guessed."""
    index = make_index(
        [
            {"_id": "1", "title": "stroke", "tenant": "a"},
            {"_id": "2", "title": "stroke in adults", "tenant": "a"},
            {"_id": "other", "title": "asthma", "tenant": "b"},
            {"_id": "mine", "title": "asthma", "tenant": "a"},
        ]
    )
    scores = {"gone": 9.0, "other": 8.0, "mine": 7.0, "1": 1.0}
    ranker = HybridRanker(client, None, given_clicks(scores), LEXICAL)
    response = ranker.search(index, STROKE, text="stroke", filter=MINE, size=2)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["1", "mine"]
    everything = ranker.search(index, STROKE, text="stroke", filter=MINE)
    assert [hit["_id"] for hit in everything["hits"]["hits"]] == ["1", "mine", "2"]
    assert response["trifuse"]["legs"]["clicks"]["hits"] == 2


def test_a_routing_that_no_other_hit_has(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    """As where children are beside their parents: `x` is there twice, of two tenants."""
    index = make_index(
        [
            {"_id": "1", "title": "stroke", "tenant": "a"},
            {"_id": "x", "title": "asthma", "tenant": "a", "_routing": "a"},
            {"_id": "x", "title": "asthma", "tenant": "b", "_routing": "d"},
        ],
        shards=4,
    )
    ranker = HybridRanker(client, None, given_clicks({"x": 1.0}), LEXICAL)
    response = ranker.search(index, STROKE, text="stroke", filter=MINE)
    found = [(hit["_id"], hit.get("_routing"), hit["_source"]["tenant"]) for hit in response["hits"]["hits"]]
    assert found == [("1", None, "a"), ("x", "a", "a")]
    both = ranker.search(index, STROKE, text="stroke")["hits"]["hits"]
    assert sorted((hit["_id"], hit.get("_routing", "")) for hit in both) == [
        ("1", ""),
        ("x", "a"),
        ("x", "d"),
    ]


def test_an_alias_of_two_indices(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    """Both have a document of that id, and the lexical leg brings one of them."""
    one = make_index([{"_id": "1", "title": "stroke"}, {"_id": "3", "title": "asthma"}], suffix="-1")
    two = make_index([{"_id": "1", "title": "asthma"}], suffix="-2")
    for index in (one, two):
        client.indices.put_alias(index=index, name=f"{one}-both")
    ranker = HybridRanker(client, None, given_clicks({"1": 2.0, "3": 1.0}), LEXICAL)
    hits = ranker.search(f"{one}-both", STROKE, text="stroke")["hits"]["hits"]
    assert [(hit["_id"], hit["_index"]) for hit in hits] == [("1", one), ("1", two), ("3", one)]


def test_groups_of_clicked_documents(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any
) -> None:
    index = make_index(
        [
            {"_id": "1", "title": "stroke", "tenant": "a"},
            {"_id": "2", "title": "asthma", "tenant": "b"},
            {"_id": "3", "title": "asthma", "tenant": "b"},
        ]
    )
    ranker = HybridRanker(client, None, given_clicks({"2": 2.0, "3": 1.0}), LEXICAL)
    body = {**STROKE, "collapse": {"field": "tenant"}}
    hits = ranker.search(index, body, text="stroke")["hits"]["hits"]
    assert [(hit["_id"], hit["fields"]["tenant"]) for hit in hits] == [("1", ["a"]), ("2", ["b"])]


def test_an_index_that_may_be_missing_and_is(client: OpenSearch, index_name: str, given_clicks: Any) -> None:
    ranker = HybridRanker(client, None, given_clicks({"1": 1.0}), LEXICAL)
    response = ranker.search(index_name, STROKE, text="stroke", params={"ignore_unavailable": True})
    assert response["hits"]["hits"] == []


def angled(count: int) -> list[dict[str, Any]]:
    return [{"_id": f"d{n}", "title": "asthma", "angle": n} for n in range(count)]


UNSEEN = Profile(
    weights={"lexical": 0.5, "dense": 0.5, "clicks": 5.0}, depth=4, clicks=ClickSettings(support=0)
)


def test_the_page_itself_tells_of_the_clicked_documents_on_it(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any, tiny: Any
) -> None:
    """d8 is on it; d9, and one that is gone, were clicked too little: the page is all that is asked for."""
    index = make_index(angled(10))
    counting = Counting(client)
    clicks = given_clicks({"d8": 0.5, "gone": 0.02, "d9": 0.01})
    ranker = HybridRanker(counting, tiny, clicks, UNSEEN)  # type: ignore[arg-type]
    response = ranker.search(index, STROKE, text="stroke", size=2)
    assert counting.asked == ["msearch", "search"]
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["d8", "d0"]
    assert response["hits"]["total"] == {"value": 4, "relation": "gte"}


def test_f9_pages_agree_where_a_clicked_document_is_gone(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any, tiny: Any
) -> None:
    """It would have been first; and the total is the same from every page."""
    index = make_index(angled(10))
    ranker = HybridRanker(client, tiny, given_clicks({"gone": 0.9, "d8": 0.5}), UNSEEN)
    pages = [ranker.search(index, STROKE, text="stroke", from_=at, size=2)["hits"] for at in (0, 2)]
    whole = ranker.search(index, STROKE, text="stroke", size=4)["hits"]
    assert [[hit["_id"] for hit in page["hits"]] for page in pages] == [["d8", "d0"], ["d1", "d2"]]
    assert [hit["_id"] for hit in whole["hits"]] == ["d8", "d0", "d1", "d2"]
    assert pages[0]["total"] == pages[1]["total"] == whole["total"] == {"value": 4, "relation": "gte"}


def test_a_clicked_document_on_the_page_that_is_there_twice(
    client: OpenSearch, make_index: Callable[..., str], given_clicks: Any, tiny: Any
) -> None:
    """Under a routing too, which no hit of the other legs has."""
    index = make_index([*angled(5), {"_id": "d4", "title": "asthma", "angle": 90, "_routing": "d"}], shards=4)
    ranker = HybridRanker(client, tiny, given_clicks({"d4": 0.5}), UNSEEN)
    hits = ranker.search(index, STROKE, text="stroke", size=3)["hits"]["hits"]
    assert [(hit["_id"], hit.get("_routing", "")) for hit in hits] == [("d4", ""), ("d4", "d"), ("d0", "")]
