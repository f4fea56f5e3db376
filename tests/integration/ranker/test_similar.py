"""Documents like one of an index, and like a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker.errors import BodyError, DocumentMissing, IndexMissing, SearchRejected, SearchUnavailable
from trifuse.ranker.similar import similar

ASIDE = {"_id": "aside", "title": "aside", "tenant": "a", "angle": 90}
DOCUMENTS: list[dict[str, Any]] = [
    {"_id": "b", "title": "one", "tenant": "a", "angle": 10},
    {"_id": "a", "title": "its twin", "tenant": "b", "angle": 10},
    {"_id": "c", "title": "near", "tenant": "a", "angle": 70},
    ASIDE,
    {"_id": "bare", "title": "without a vector"},
]


class AtNinety:
    """Documents at 90 degrees, and no queries: parts of a document are encoded as documents are."""

    provider = "cpu"

    def __init__(self, name: str = "tiny") -> None:
        self.space = EncoderSpace(name, "r1", "fp32", "cls", 3, True, "cosine")
        self.texts: list[str] = []

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.array([[0.0, 1.0, 0.0]] * len(texts), dtype=np.float32)


def found(response: dict[str, Any]) -> list[tuple[str, float]]:
    """Ids and similarities."""
    hits = response["hits"]["hits"]
    return [(hit["_id"], pytest.approx(hit["trifuse"]["similarity"], abs=1e-5)) for hit in hits]


def ids(response: dict[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def test_itself_is_left_out_by_its_id_and_not_by_its_rank(
    client: OpenSearch, make_index: Callable[..., str]
) -> None:
    index = make_index(DOCUMENTS)
    assert found(similar(client, None, index, doc_id="b")) == [("a", 1.0), ("c", 0.5), ("aside", 0.173648)]
    assert found(similar(client, None, index, doc_id="a")) == [("b", 1.0), ("c", 0.5), ("aside", 0.173648)]


def test_a_response_says_what_was_compared_and_shows_no_vector(
    client: OpenSearch, make_index: Callable[..., str]
) -> None:
    index = make_index(DOCUMENTS)
    response = similar(client, None, index, doc_id="b", size=1)
    (hit,) = response["hits"]["hits"]
    assert response["hits"]["total"] == {"value": 1, "relation": "gte"}
    whole = similar(client, None, index, doc_id="b")
    assert whole["hits"]["total"] == {"value": 3, "relation": "eq"}
    assert hit["_source"] == {"title": "its twin", "tenant": "b"}
    assert hit["_score"] == response["hits"]["max_score"] == pytest.approx(1.0)
    assert response["trifuse"] == {
        "like": {"_index": index, "_id": "b"},
        "field": VECTOR_FIELD,
        "by": None,
        "exact": False,
        "lacking": [],
        "filter": {"given": None, "alias": None},
    }


def test_equally_similar_ones_are_ordered_by_id(client: OpenSearch, make_index: Callable[..., str]) -> None:
    index = make_index([{"_id": each, "title": each, "angle": 30} for each in "xcab"], shards=3)
    assert ids(similar(client, None, index, doc_id="x")) == ["a", "b", "c"]


def test_as_many_as_asked_for_match_the_filter_though_others_are_nearer(
    client: OpenSearch, two_tenants: Callable[..., str]
) -> None:
    index = two_tenants()
    response = similar(client, None, index, doc_id="b0", filter={"term": {"tenant": "a"}}, size=3)
    assert ids(response) == ["a0", "a1", "a2"]
    assert ids(similar(client, None, index, doc_id="a0", filter={"term": {"tenant": "a"}}, size=2)) == [
        "a1",
        "a2",
    ]


def test_a_filtered_alias_holds_for_the_document_and_for_what_is_found(
    client: OpenSearch, two_tenants: Callable[..., str], index_name: str
) -> None:
    alias = f"{index_name}-of-a"
    two_tenants(aliases={alias: {"filter": {"term": {"tenant": "a"}}}})
    response = similar(client, None, alias, doc_id="a19", size=50)
    assert ids(response) == [f"a{n}" for n in reversed(range(19))]
    with pytest.raises(DocumentMissing, match="has no document 'b0'"):
        similar(client, None, alias, doc_id="b0")


def test_several_indices_of_which_one_has_the_document_and_one_no_vectors(
    client: OpenSearch, make_index: Callable[..., str]
) -> None:
    one = make_index(DOCUMENTS, suffix="-1")
    other = make_index([{"_id": "d", "title": "d", "angle": 12}], suffix="-2")
    bare = make_index([{"_id": "e", "title": "e"}], suffix="-3", vectors=False)
    response = similar(client, None, [one, other, bare], doc_id="b", size=3)
    assert ids(response) == ["a", "d", "c"]
    assert response["trifuse"]["lacking"] == [bare]
    with pytest.raises(DocumentMissing, match=f"'e' has no vector in the field 'trifuse_vector' of '{bare}'"):
        similar(client, None, [one, bare], doc_id="e")


def test_an_id_that_two_indices_have_is_refused(client: OpenSearch, make_index: Callable[..., str]) -> None:
    one, other = (make_index(DOCUMENTS, suffix=suffix) for suffix in ("-1", "-2"))
    with pytest.raises(BodyError, match=f"'b' \\({one}, {other}\\): name an index"):
        similar(client, None, [one, other], doc_id="b")


def test_a_document_without_a_vector_says_what_to_do(
    client: OpenSearch, make_index: Callable[..., str]
) -> None:
    index = make_index(DOCUMENTS)
    with pytest.raises(DocumentMissing, match=f"'bare' has no vector .* `trifuse sync {index}` embeds"):
        similar(client, None, index, doc_id="bare")
    with pytest.raises(DocumentMissing, match="has no document 'nobody': check the id"):
        similar(client, None, index, doc_id="nobody")


def test_an_only_document_has_none_like_it(client: OpenSearch, make_index: Callable[..., str]) -> None:
    response = similar(client, None, make_index([ASIDE]), doc_id="aside")
    none = {"value": 0, "relation": "eq"}
    assert response["hits"] == {"total": none, "max_score": None, "hits": []}


def test_parts_are_joined_as_the_template_joins_and_encoded_as_a_document(
    client: OpenSearch, make_index: Callable[..., str]
) -> None:
    index, encoder = make_index(DOCUMENTS), AtNinety()
    parts = {"condition": ["asthma", "gout"], "title": "relief"}
    response = similar(client, encoder, index, parts=parts, size=2)
    assert found(response) == [("aside", 1.0), ("c", 0.939693)]
    assert encoder.texts == ["relief\nasthma; gout"]
    assert response["trifuse"]["like"] == {"parts": parts}


def test_an_encoder_of_another_space_is_refused(client: OpenSearch, make_index: Callable[..., str]) -> None:
    index = make_index(DOCUMENTS)
    with pytest.raises(SpaceMismatch, match="'tiny'"):
        similar(client, AtNinety("other"), index, parts={"title": "x"})
    with pytest.raises(BodyError, match="parts need the encoder"):
        similar(client, None, index, parts={"title": "x"})


def test_vectors_of_two_spaces_are_not_compared(
    client: OpenSearch, make_index: Callable[..., str], index_name: str
) -> None:
    index, other = make_index(DOCUMENTS), f"{index_name}-other"
    make_exact(client, other, AtNinety("other").space)
    with pytest.raises(SpaceMismatch, match=f"index '{other}'"):
        similar(client, None, [index, other], doc_id="b")


def test_an_index_without_knn_is_compared_one_by_one(client: OpenSearch, index_name: str) -> None:
    make_exact(client, index_name, AtNinety().space)
    response = similar(client, None, index_name, doc_id="0", filter={"range": {"year": {"lt": 4}}})
    assert found(response) == [("1", 0.6), ("2", 0.0), ("3", -1.0)]
    assert response["trifuse"]["exact"] is True


def make_exact(client: OpenSearch, name: str, space: EncoderSpace) -> None:
    """Five documents, the first of them three times as long as it need be."""
    meta = meta_with_space(None, VECTOR_FIELD, Space(space, TextTemplate(("title",))))
    properties = {VECTOR_FIELD: {"type": "knn_vector", "dimension": 3}, "year": {"type": "integer"}}
    body = {"settings": {"number_of_replicas": 0}, "mappings": {"_meta": meta, "properties": properties}}
    client.indices.create(index=name, body=body)
    for number, vector in enumerate([(3, 0, 0), (0.6, 0.8, 0), (0, 0, 1), (-1, 0, 0), (1, 0, 0)]):
        client.index(index=name, id=str(number), body={VECTOR_FIELD: list(vector), "year": number})
    client.indices.refresh(index=name)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "either the id of a document or the parts"),
        ({"doc_id": "b", "parts": {"title": "x"}}, "either the id of a document or the parts"),
        ({"doc_id": "b", "size": 0}, "size is 0: give a whole number from 1 to 10000"),
        ({"doc_id": "b", "filter": {}}, "give one query as a JSON object"),
        ({"doc_id": "b", "by": "title"}, "no vectors of the part 'title' by itself"),
    ],
)
def test_what_contradicts_itself_is_refused(
    client: OpenSearch, three: str, wanted: dict[str, Any], message: str
) -> None:
    with pytest.raises(BodyError, match=message):
        similar(client, None, three, **wanted)


def test_what_the_server_refuses_is_handed_on(
    client: OpenSearch, three: str, make_index: Callable[..., str]
) -> None:
    with pytest.raises(SearchRejected, match=r"unknown query \[nope\]"):
        similar(client, None, three, doc_id="near", filter={"nope": {}})
    with pytest.raises(IndexMissing, match="'not-there'"):
        similar(client, None, "not-there", doc_id="near")
    with pytest.raises(BodyError, match="has no vectors: `trifuse attach` adds some"):
        similar(client, None, make_index([], suffix="-bare", vectors=False), doc_id="near")


class Moving:
    """A client that moves an alias to the next index before each of some searches."""

    def __init__(self, client: OpenSearch, alias: str, indices: Sequence[str]) -> None:
        self._client, self._alias, self._left = client, alias, list(indices)
        self.indices = client.indices

    def search(self, **request: Any) -> Any:
        if self._left:
            add = {"index": self._left.pop(0), "alias": self._alias}
            remove = {"index": "*", "alias": self._alias}
            self._client.indices.update_aliases(body={"actions": [{"remove": remove}, {"add": add}]})
        return self._client.search(**request)


@pytest.mark.parametrize("moves", [1, 2])
def test_an_alias_that_is_moved_meanwhile_is_read_again(
    client: OpenSearch, make_index: Callable[..., str], index_name: str, moves: int
) -> None:
    alias = f"{index_name}-alias"
    make_index(DOCUMENTS, suffix="-1", aliases={alias: {}})
    others = [make_index([*DOCUMENTS[:1], ASIDE], suffix=f"-{n}") for n in (2, 3)]
    moving: Any = Moving(client, alias, others[:moves])
    response = similar(moving, None, alias, doc_id="b")
    assert ids(response) == ["aside"]
    assert response["trifuse"]["like"]["_index"] == others[moves - 1]


def test_an_alias_that_never_rests_is_given_up(
    client: OpenSearch, make_index: Callable[..., str], index_name: str
) -> None:
    alias = f"{index_name}-alias"
    indices = [make_index([ASIDE], suffix=f"-{n}", aliases={alias: {}} if n == 0 else None) for n in (0, 1)]
    moving: Any = Moving(client, alias, [indices[n % 2] for n in range(1, 20)])
    with pytest.raises(SearchUnavailable, match="changed during each of 5 tries"):
        similar(moving, None, alias, doc_id="aside")
