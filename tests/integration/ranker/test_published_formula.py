"""LADER's score as it is served, against the formula written down from the paper.

Jin, Shin, Lu 2023, section 2.2: for the n documents d_j with the largest inner products s_d with the query,
and the m past queries q_i with the largest s_q,

    Score(d) = Σ_j softmax(s_d)_j · 1(d = d_j) + λ Σ_i softmax(s_q)_i · 1(d ∈ Rel(q_i))

`published_scores` is that, in plain Python: it has nothing of what it checks. The index, the past queries and
their clicks are real ones, in a space of inner products and in one of cosines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.encoder.types import Encoding, Vectors
from trifuse.indexer.mapping import index_body
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import queries_index, query_id, query_space
from trifuse.ranker.profiles.published import published
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

Vector = Sequence[float]

DIMENSION, DOCUMENTS, PAST = 16, 40, 14
NEW, KNOWN = "heart failure in adults", "past query 3"
"""A query that isn't in the log, and one that was clicked for 50 times."""


def softmax(values: Sequence[float], temperature: float) -> list[float]:
    powers = [math.exp((value - max(values)) / temperature) for value in values]
    return [power / sum(powers) for power in powers]


def largest(query: Vector, vectors: Mapping[str, Vector], count: int) -> dict[str, float]:
    """Maximum inner-product search: what is found to its inner product."""
    products = {
        name: sum(a * b for a, b in zip(query, vector, strict=True)) for name, vector in vectors.items()
    }
    return {name: products[name] for name in sorted(products, key=lambda name: -products[name])[:count]}


def published_scores(
    documents: Mapping[str, float],
    past: Mapping[str, float],
    relevant: Mapping[str, set[str]],
    *,
    weight: float,
    temperature: float,
    dense: bool = True,
) -> dict[str, float]:
    """Score(d) of every candidate.

    Args:
        documents: the top n to their similarity, or to whatever the retriever scores them by.
        past: the top m past queries to their similarity.
        relevant: Rel, past query to the documents that were clicked for it.
        weight: λ; 0 is "w/o LA".
        temperature: of both softmaxes; the paper has none, which is 1.
        dense: False is "w/o DR", without the documents that then score 0.
    """
    scores: dict[str, float] = {}
    if dense and documents:
        shares = softmax(list(documents.values()), temperature)
        for document, share in zip(documents, shares, strict=True):
            scores[document] = scores.get(document, 0.0) + share
    if weight > 0:
        for query, share in zip(past, softmax(list(past.values()), temperature), strict=True):
            for document in relevant[query]:
                scores[document] = scores.get(document, 0.0) + weight * share
    return scores


@dataclass(frozen=True)
class World:
    """What is in the index and in the log.

    Args:
        documents, past, queries: name or text to vector.
        relevant: past query to the documents, still there, that were clicked for it.
    """

    space: EncoderSpace
    documents: Mapping[str, Vector]
    past: Mapping[str, Vector]
    queries: Mapping[str, Vector]
    relevant: Mapping[str, set[str]]

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.queries[text] for text in texts], dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    @property
    def provider(self) -> str:
        return "cpu"


def make_world(similarity: Any) -> World:
    """Vectors by chance around one direction, as those of one subject lie; float32, as they are stored."""
    chance = random.Random(f"{similarity} 0")
    centre = [chance.gauss(0, 1) for _ in range(DIMENSION)]

    def vector() -> list[float]:
        values = [1.5 * c + chance.gauss(0, 1) for c in centre]
        norm = math.sqrt(sum(value * value for value in values))
        length = 1.0 if similarity == "cosine" else chance.uniform(1.5, 2.5)
        return [float(np.float32(length * value / norm)) for value in values]

    documents = {f"d{n:02}": vector() for n in range(DOCUMENTS)}
    documents["d07"] = documents["d21"]  # two that nobody can tell apart
    past = {f"past query {n}": vector() for n in range(PAST)}
    past["past query 5"] = past["past query 9"]
    space = EncoderSpace("made-up", "1", "fp32", "cls", DIMENSION, similarity == "cosine", similarity)
    relevant = {query: set(chance.sample(sorted(documents), chance.randint(1, 4))) for query in past}
    return World(space, documents, past, {NEW: vector(), KNOWN: past[KNOWN]}, relevant)


@pytest.fixture(params=["dot", "cosine"])
def world(request: pytest.FixtureRequest, client: OpenSearch, redis_client: Redis, index_name: str) -> World:
    """The index, its past queries and their clicks; a document that was clicked most is gone."""
    made = make_world(request.param)
    spaces = {VECTOR_FIELD: Space(made.space, TextTemplate(("title",)))}
    client.indices.create(index=index_name, body=index_body({"title": {"type": "text"}}, spaces=spaces))
    for number, (id, vector) in enumerate({**made.documents, "gone": made.documents["d00"]}.items()):
        words = ["heart"] * (number % 4) + ["failure"] * (number % 3) + ["adults"] * (number % 7)
        client.index(index=index_name, id=id, body={"title": " ".join(words), VECTOR_FIELD: vector})
    client.indices.refresh(index=index_name)
    clicks = [
        ClickEvent(
            query=query.title(), doc_id=id, event_id=f"{query} {id}", count=50 if query == KNOWN else 1
        )
        for query, ids in made.relevant.items()
        for id in sorted({*ids, "gone"})
    ]
    Intake(client, redis_client, index_name, min_visitors=1).take(clicks)
    marked = query_space(made.space).id
    for query, vector in made.past.items():
        marks = mark(VECTOR_FIELD, marked, text_hash(query))
        update = {"doc": {VECTOR_FIELD: vector, **marks}}
        client.update(index=queries_index(index_name), id=query_id(query), body=update)
    client.delete(index=index_name, id="gone")
    client.indices.refresh(index=f"{index_name},{queries_index(index_name)}")
    return made


@pytest.fixture
def serve(
    client: OpenSearch, redis_client: Redis, index_name: str, world: World
) -> Iterator[Callable[..., dict[str, Any]]]:
    """Searches, and gives as much of the ranking as there is."""
    ranker = HybridRanker(client, world, ClickStore(redis_client, client))  # type: ignore[arg-type]

    def search(text: str, profile: Profile, **options: Any) -> dict[str, Any]:
        profile = replace(profile, click_budget_s=10.0)
        size = min(profile.depth, 100)
        return ranker.search(index_name, text=text, profile=profile, size=size, **options)

    yield search
    ranker.close()


def check(response: Mapping[str, Any], expected: Mapping[str, float], size: int = 100) -> None:
    """What is served are the best of what is expected, with their scores, in order; where equal, by id."""
    served = {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}
    assert len(served) == min(len(expected), size)
    assert served == pytest.approx({id: expected[id] for id in served}, rel=0, abs=1e-6)
    assert list(served) == sorted(served, key=lambda id: (-served[id], id))
    left = [score for id, score in expected.items() if id not in served]
    assert max(left, default=0.0) <= min(served.values()) + 1e-6


def temperature(world: World) -> float:
    return 0.05 if world.space.similarity == "cosine" else 1.0


@pytest.mark.parametrize(("n", "m"), [(1000, 1000), (10, 5)])
def test_over_dense_retrieval(world: World, serve: Callable[..., dict[str, Any]], n: int, m: int) -> None:
    """All of it, without the log (w/o LA), and without the retriever (w/o DR)."""
    parts = {"lader": (True, True), "lader-no-log": (True, False), "lader-no-dense": (False, True)}
    for text, segment, weight in ((NEW, "TAIL", 0.2), (KNOWN, "HEAD", 0.5)):
        near = largest(world.queries[text], world.documents, n)
        past = largest(world.queries[text], world.past, m)
        for name, (dense, log) in parts.items():
            profile = published()[name]
            response = serve(text, replace(profile, depth=n, clicks=replace(profile.clicks, m=m)))
            expected = published_scores(
                near,
                past,
                world.relevant,
                weight=weight if log else 0.0,
                temperature=temperature(world),
                dense=dense,
            )
            check(response, expected, n)
            if log:
                assert response["trifuse"]["query"]["segment"] == segment
                assert response["trifuse"]["legs"]["clicks"]["weight"] == weight


def test_there_is_something_of_every_kind() -> None:
    """Documents that are only near, only clicked, and both, and clicks that are equal."""
    for similarity in ("dot", "cosine"):
        world = make_world(similarity)
        near = set(largest(world.queries[NEW], world.documents, 10))
        past = largest(world.queries[NEW], world.past, 5)
        clicked = {id for query in past for id in world.relevant[query]}
        assert near - clicked
        assert clicked - near
        assert clicked & near
        scores = published_scores({}, past, world.relevant, weight=1.0, temperature=temperature(world))
        assert len(set(scores.values())) < len(scores)


def test_the_query_itself_can_be_left_out(world: World, serve: Callable[..., dict[str, Any]]) -> None:
    """It is no past query of its own; that others searched for it 49 times keeps it in HEAD."""
    response = serve(KNOWN, published()["lader"], leave_one_out=True)
    others = {query: vector for query, vector in world.past.items() if query != KNOWN}
    expected = published_scores(
        largest(world.queries[KNOWN], world.documents, 1000),
        largest(world.queries[KNOWN], others, 1000),
        world.relevant,
        weight=0.5,
        temperature=temperature(world),
    )
    check(response, expected)
    assert response["trifuse"]["query"]["segment"] == "HEAD"


def test_equal_documents_score_the_same(world: World, serve: Callable[..., dict[str, Any]]) -> None:
    scores = {hit["_id"]: hit["_score"] for hit in serve(NEW, published()["lader-no-log"])["hits"]["hits"]}
    assert scores["d07"] == scores["d21"]
    assert list(scores).index("d21") == list(scores).index("d07") + 1


def test_over_bm25(
    client: OpenSearch, world: World, serve: Callable[..., dict[str, Any]], index_name: str
) -> None:
    """BM25's scores, as the server gives them, stand where the inner products stood."""
    query = {"query": {"match": {"title": NEW}}}
    hits = client.search(index=index_name, body={**query, "size": 100})["hits"]["hits"]
    response = serve(NEW, published()["lader-bm25"], body=query)
    bm25 = published_scores({hit["_id"]: hit["_score"] for hit in hits}, {}, {}, weight=0.0, temperature=1.0)
    past = largest(world.queries[NEW], world.past, 1000)
    log = published_scores({}, past, world.relevant, weight=0.2, temperature=temperature(world))
    assert 0 < len(hits) < DOCUMENTS
    check(response, {id: bm25.get(id, 0.0) + log.get(id, 0.0) for id in {*bm25, *log}})
