"""Searches of an alias that is moved between indices of two spaces, and of an index switched in place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_serving, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker import HybridRanker, Profile

TEMPLATE = TextTemplate(("title",))
OLD_FIELD, NEW_FIELD = "trifuse_vector", "trifuse_vector_2"
BODY = {"query": {"match": {"title": "stroke"}}}
DOCUMENTS = 12
SEARCHES = 40
THREADS = 3


class Encoder:
    """Every query at one place of its space."""

    provider = "cpu"

    def __init__(self, name: str, vector: Sequence[float]) -> None:
        self.space = EncoderSpace(name, "r1", "fp32", "cls", len(vector), True, "cosine")
        self.vector = np.array(vector, dtype=np.float32)

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.vector] * len(texts))


OLD, NEW = Encoder("old", (0.6, 0.8)), Encoder("new", (0.0, 0.6, 0.8))
ALIKE = Encoder("alike", (1.0, 0.0))
"""As many dimensions as the old one has."""


def vector_of(document: int, encoder: Encoder) -> list[float]:
    """Turned by so many steps of 0.2 from the first axis."""
    turn = 0.2 * document if encoder is OLD else 3.0 - 0.2 * document
    return [float(np.cos(turn)), float(np.sin(turn)), *([0.0] * (len(encoder.vector) - 2))]


def cosine(document: int, encoder: Encoder) -> float:
    return float(np.dot(vector_of(document, encoder), encoder.vector))


def make(
    client: OpenSearch,
    name: str,
    fields: Mapping[str, Encoder],
    *,
    serving: str,
    knn: bool = True,
    aliases: Sequence[str] = (),
) -> None:
    meta: dict[str, Any] = {}
    properties: dict[str, Any] = {"title": {"type": "text"}, "number": {"type": "integer"}}
    for field, encoder in fields.items():
        meta = meta_with_space(meta, field, Space(encoder.space, TEMPLATE))
        properties[field] = {"type": "knn_vector", "dimension": len(encoder.vector)}
        if knn:
            properties[field]["method"] = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    settings = {"index.knn": knn, "number_of_shards": 1, "number_of_replicas": 0}
    mappings = {"_meta": meta_serving(meta, serving), "properties": properties}
    body = {"settings": settings, "mappings": mappings, "aliases": {alias: {} for alias in aliases}}
    client.indices.create(index=name, body=body)
    lines: list[dict[str, Any]] = []
    for document in range(DOCUMENTS):
        source: dict[str, Any] = {"title": "stroke" if document % 2 else "asthma", "number": document}
        source |= {field: vector_of(document, encoder) for field, encoder in fields.items()}
        lines += [{"index": {"_index": name, "_id": str(document)}}, source]
    assert not client.bulk(body=lines, params={"refresh": "true"})["errors"]


def search_while(
    change: Callable[[], None], search: Callable[[], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Constant searches by several threads, while something is changed every 0.15 s."""
    done = threading.Event()

    def changing() -> None:
        while not done.is_set():
            change()
            time.sleep(0.15)

    def searching() -> list[dict[str, Any]]:
        return [search() for _ in range(SEARCHES)]

    with ThreadPoolExecutor(THREADS + 1) as pool:
        other = pool.submit(changing)
        try:
            futures = [pool.submit(searching) for _ in range(THREADS)]
            found = [response for future in futures for response in future.result()]
        finally:
            done.set()
        other.result()
    yield from found


def check_dense(response: Mapping[str, Any], encoder_of: Callable[[str], Sequence[Encoder]]) -> int:
    """Each dense score is the cosine in a right space: all of a response in one. The number of such hits."""
    scored = [hit for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["dense"]]
    if not scored:
        return 0
    assert len({hit["_index"] for hit in scored}) == 1
    given = [hit["trifuse"]["legs"]["dense"]["similarity"] for hit in scored]
    possible = encoder_of(scored[0]["_index"])
    expected = [[cosine(int(hit["_id"]), encoder) for hit in scored] for encoder in possible]
    assert any(np.allclose(given, each, atol=1e-5) for each in expected), (given, expected)
    return len(scored)


@pytest.fixture
def two(client: OpenSearch, index_name: str) -> tuple[str, str, str]:
    """An alias of the first of two indices with the same documents, in two spaces of other dimensions."""
    one, other = f"{index_name}-1", f"{index_name}-2"
    make(client, one, {OLD_FIELD: OLD}, serving=OLD_FIELD, aliases=[index_name])
    make(client, other, {NEW_FIELD: NEW}, serving=NEW_FIELD)
    return index_name, one, other


def move(client: OpenSearch, alias: str, source: str, target: str) -> None:
    actions = [
        {"remove": {"index": source, "alias": alias}},
        {"add": {"index": target, "alias": alias}},
    ]
    client.indices.update_aliases(body={"actions": actions})


def flipped(
    client: OpenSearch, ranker: HybridRanker, alias: str, spaces: Mapping[str, Sequence[Encoder]]
) -> None:
    """Search constantly while the alias goes to and fro between the two indices, and check every response."""
    places = list(spaces)

    def flip() -> None:
        move(client, alias, *places)
        places.reverse()

    def search() -> dict[str, Any]:
        return ranker.search(alias, BODY, text="stroke", explain=True, size=DOCUMENTS)

    responses = list(search_while(flip, search))
    assert len(responses) == THREADS * SEARCHES
    counts = [check_dense(response, lambda index: spaces[index]) for response in responses]
    assert {hit["_index"] for response in responses for hit in response["hits"]["hits"]} == set(spaces)
    # Only searches that met a flip in each of their tries go without vectors.
    assert sum(count == DOCUMENTS for count in counts) >= 0.9 * len(counts)


@pytest.mark.parametrize("execution", ["client", "native"])
def test_an_alias_that_is_flipped_under_load(
    client: OpenSearch, two: tuple[str, str, str], execution: Any
) -> None:
    alias, one, other = two
    profile = Profile(weights={"lexical": 0.5, "dense": 0.5}, normalization="min_max", execution=execution)
    flipped(client, HybridRanker(client, [OLD, NEW], profile=profile), alias, {one: (OLD,), other: (NEW,)})


def test_flipped_between_spaces_that_only_their_names_tell_apart(client: OpenSearch, index_name: str) -> None:
    one, other = f"{index_name}-1", f"{index_name}-2"
    make(client, one, {OLD_FIELD: OLD}, serving=OLD_FIELD, aliases=[index_name])
    make(client, other, {OLD_FIELD: ALIKE}, serving=OLD_FIELD)
    ranker = HybridRanker(client, [OLD, ALIKE], profile=Profile(weights={"lexical": 0.5, "dense": 0.5}))
    flipped(client, ranker, index_name, {one: (OLD,), other: (ALIKE,)})


def test_a_filter_that_leaves_no_lexical_hit_finds_the_moved_alias(
    client: OpenSearch, two: tuple[str, str, str]
) -> None:
    alias, one, other = two
    ranker = HybridRanker(client, [OLD, NEW], profile=Profile(weights={"lexical": 0.5, "dense": 0.5}))
    body = {"query": {"match": {"title": "nothing"}}}
    assert ranker.search(alias, body, text="x", size=12)["hits"]["hits"][0]["_index"] == one
    move(client, alias, one, other)
    response = ranker.search(alias, body, text="x", size=12)
    assert check_dense(response, lambda index: {other: (NEW,)}[index]) == DOCUMENTS


def test_one_encoder_of_another_space_is_refused_after_the_move(
    client: OpenSearch, two: tuple[str, str, str]
) -> None:
    alias, one, other = two
    old, new = HybridRanker(client, OLD), HybridRanker(client, lambda space: {NEW.space: NEW}.get(space))
    assert old.search(alias, BODY, text="x")["trifuse"]["legs"]["dense"]["state"] == "ok"
    assert new.search(alias, BODY, text="x")["trifuse"]["legs"]["dense"]["state"] == "off"
    move(client, alias, one, other)
    with pytest.raises(SpaceMismatch, match="--encoder"):
        old.search(alias, BODY, text="x")
    assert new.search(alias, BODY, text="x")["trifuse"]["legs"]["dense"]["state"] == "ok"


def test_an_index_that_is_switched_in_place_under_load(client: OpenSearch, index_name: str) -> None:
    make(client, index_name, {OLD_FIELD: OLD, NEW_FIELD: NEW}, serving=OLD_FIELD)
    meta = client.indices.get_mapping(index=index_name)[index_name]["mappings"]["_meta"]
    fields = [NEW_FIELD, OLD_FIELD]

    def switch() -> None:
        client.indices.put_mapping(index=index_name, body={"_meta": meta_serving(meta, fields[0])})
        fields.reverse()

    profile = Profile(weights={"lexical": 0.5, "dense": 0.5})

    def search() -> dict[str, Any]:
        ranker = HybridRanker(client, [OLD, NEW], profile=profile)  # knows nothing from before
        return ranker.search(index_name, BODY, text="x", size=12)

    met = set()
    for response in search_while(switch, search):
        assert check_dense(response, lambda _: (OLD, NEW)) == DOCUMENTS
        met.add(response["trifuse"]["legs"]["dense"]["field"])
    assert met == {OLD_FIELD, NEW_FIELD}


def test_a_field_that_is_named_wins_over_the_one_served(client: OpenSearch, index_name: str) -> None:
    make(client, index_name, {OLD_FIELD: OLD, NEW_FIELD: NEW}, serving=NEW_FIELD)
    ranker = HybridRanker(client, [OLD, NEW])
    for named, encoder in ((None, NEW), (OLD_FIELD, OLD), (NEW_FIELD, NEW)):
        profile = Profile(weights={"dense": 1}, vector_field=named)
        response = ranker.search(index_name, None, text="x", size=12, profile=profile)
        assert check_dense(response, lambda _, encoder=encoder: (encoder,)) == DOCUMENTS
        assert all(hit["_source"].keys() == {"title", "number"} for hit in response["hits"]["hits"])


def test_several_indices_are_served_by_the_old_field_until_all_are_switched(
    client: OpenSearch, index_name: str
) -> None:
    fields = {OLD_FIELD: OLD, NEW_FIELD: NEW}
    make(client, f"{index_name}-1", fields, serving=NEW_FIELD, aliases=[index_name])
    make(client, f"{index_name}-2", fields, serving=OLD_FIELD, aliases=[index_name])
    ranker = HybridRanker(client, [OLD, NEW], profile=Profile(weights={"dense": 1}))
    response = ranker.search(index_name, None, text="x", size=24)
    assert response["trifuse"]["legs"]["dense"]["field"] == OLD_FIELD
    assert len(response["hits"]["hits"]) == 24
    for hit in response["hits"]["hits"]:
        expected = cosine(int(hit["_id"]), OLD)
        assert hit["trifuse"]["legs"]["dense"]["similarity"] == pytest.approx(expected, abs=1e-5)
