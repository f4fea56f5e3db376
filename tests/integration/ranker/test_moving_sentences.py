"""Searches by an aspect whose sentences are moved or replaced between the two steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.types import Vectors
from trifuse.indexer.mapping import sentence_mapping
from trifuse.indexer.sentences.origin import Origin, meta_with_origin
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE
from trifuse.ranker import HybridRanker
from trifuse.ranker.errors import DocumentMissing, IndexMissing, SearchUnavailable
from trifuse.ranker.moving import TRIES
from trifuse.ranker.sentences import SentenceRanker


class Encoder:
    """One place for every text, and another for an aspect of it: an encoder and its adapter in one."""

    provider, revision, aspects = "cpu", "r1", ("outcome",)

    def __init__(self, name: str, people: Sequence[float], result: Sequence[float]) -> None:
        self.name = name
        self.space = EncoderSpace(name, "r1", "fp32", "cls", len(result), True, "cosine")
        self.people, self.result = people, result

    def encode_queries(self, texts: Sequence[str], aspect: str | None = None) -> Vectors:
        middle = [(one + other) / 2**0.5 for one, other in zip(self.people, self.result, strict=True)]
        return np.array([self.result if aspect else middle] * len(texts), dtype=np.float32)


OLD = Encoder("old", [1.0, 0.0], [0.0, 1.0])
ALIKE = Encoder("alike", [0.0, 1.0], [1.0, 0.0])
"""Of as many dimensions: by a vector of the other one its nearest sentence is the wrong one."""
LONGER = Encoder("longer", [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
ALL = [OLD, ALIKE, LONGER]


@pytest.fixture
def make(client: OpenSearch, index_name: str) -> Callable[..., tuple[str, str]]:
    """Makes an index and that of its sentences, in the space of an encoder; their names."""

    def made(encoder: Encoder, suffix: str, *, parents: bool = True) -> tuple[str, str]:
        name, sentences = f"{index_name}{suffix}", f"{index_name}{suffix}-sentences"
        body = sentence_mapping(Space(encoder.space, SENTENCE_TEMPLATE), filters={})
        body["mappings"]["_meta"] = meta_with_origin(body["mappings"]["_meta"], Origin(name, "u"))
        client.indices.create(index=sentences, body=body)
        lines: list[Any] = []
        for at, (text, vector) in enumerate({"People.": encoder.people, "Result.": encoder.result}.items()):
            place = {"parent_id": "7", "section": "body", "ordinal": at, "start": 0, "end": len(text)}
            lines += [{"index": {"_id": text}}, {**place, "text": text, VECTOR_FIELD: vector}]
        assert not client.bulk(index=sentences, body=lines, params={"refresh": "true"})["errors"]
        if parents:
            meta = {"trifuse": {"sentences": sentences}}
            client.indices.create(index=name, body={"mappings": {"_meta": meta}})
        return name, sentences

    return made


@pytest.fixture
def between(client: OpenSearch, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Has something done right after each of the next first steps, so many times."""

    def arranged(change: Callable[[], Any], times: int = 1) -> list[str]:
        asked: list[str] = []
        perform = client.transport.perform_request

        def performed(method: str, url: str, **more: Any) -> Any:
            answer = perform(method, url, **more)
            if url.endswith("/_msearch"):
                asked.append(url)
                if len(asked) <= times:
                    change()
            return answer

        monkeypatch.setattr(client.transport, "perform_request", performed)
        return asked

    return arranged


def alias(client: OpenSearch, name: str, target: str, *others: str) -> None:
    removed = [{"remove": {"index": other, "alias": name, "must_exist": False}} for other in others]
    client.indices.update_aliases(body={"actions": [*removed, {"add": {"index": target, "alias": name}}]})


def ranker(client: OpenSearch) -> SentenceRanker:
    return SentenceRanker(HybridRanker(client, ALL), ALL)  # type: ignore[arg-type]


def check(response: dict[str, Any], sentences: str) -> None:
    """The hits are those of one index, by vectors of its space."""
    first, second = response["hits"]["hits"]
    assert {first["_index"], second["_index"]} == {sentences}
    assert [first["_id"], second["_id"]] == ["Result.", "People."]
    assert [hit["trifuse"]["aspect"]["similarity"] for hit in (first, second)] == pytest.approx([1.0, 0.0])
    # Each of the two is at 45 degrees of the topic.
    assert first["trifuse"]["topic"] == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("other", [ALIKE, LONGER], ids=["alike", "longer"])
@pytest.mark.parametrize("named", ["sentences", "parents"])
def test_an_alias_that_is_moved_between_the_steps(
    client: OpenSearch,
    make: Callable[..., tuple[str, str]],
    between: Callable[..., list[str]],
    index_name: str,
    other: Encoder,
    named: str,
) -> None:
    indices = {"old": make(OLD, "-1"), "new": make(other, "-2")}
    place = {"parents": 0, "sentences": 1}[named]
    old, new = indices["old"][place], indices["new"][place]
    alias(client, index_name, old)

    def move() -> None:
        alias(client, index_name, new, old)
        client.indices.delete(index=",".join(indices["old"]))

    asked = between(move)
    check(ranker(client).search(index_name, text="x", aspect="outcome"), indices["new"][1])
    assert len(asked) == 2


@pytest.mark.parametrize("other", [OLD, LONGER], ids=["old", "longer"])
def test_sentences_that_are_replaced_between_the_steps(
    client: OpenSearch,
    make: Callable[..., tuple[str, str]],
    between: Callable[..., list[str]],
    other: Encoder,
) -> None:
    name, sentences = make(OLD, "")

    def replace() -> None:
        client.indices.delete(index=sentences)
        make(other, "", parents=False)

    between(replace)
    check(ranker(client).search(name, text="x", aspect="outcome"), sentences)


def test_sentences_that_are_deleted_between_the_steps(
    client: OpenSearch, make: Callable[..., tuple[str, str]], between: Callable[..., list[str]]
) -> None:
    name, sentences = make(OLD, "")
    between(lambda: client.indices.delete(index=sentences))
    with pytest.raises(IndexMissing, match=r"attach .* makes it again"):
        ranker(client).search(name, text="x", aspect="outcome")


def test_an_alias_that_is_moved_in_each_try(
    client: OpenSearch,
    make: Callable[..., tuple[str, str]],
    between: Callable[..., list[str]],
    index_name: str,
) -> None:
    places = [make(OLD, "-1")[1], make(ALIKE, "-2")[1]]
    alias(client, index_name, places[0])

    def move() -> None:
        places.reverse()
        alias(client, index_name, places[0], places[1])

    asked = between(move, times=TRIES)
    with pytest.raises(SearchUnavailable, match=f"changed during each of {TRIES} tries: search again"):
        ranker(client).search(index_name, text="x", aspect="outcome")
    assert len(asked) == TRIES


def test_an_alias_that_was_moved_since_the_last_search_within_a_document(
    client: OpenSearch, make: Callable[..., tuple[str, str]], index_name: str
) -> None:
    (_, old), (_, new) = make(OLD, "-1"), make(ALIKE, "-2")
    alias(client, index_name, old)
    used = ranker(client)
    wanted: dict[str, Any] = {"text": "x", "aspect": "outcome", "document": "7"}
    assert {hit["_index"] for hit in used.search(index_name, **wanted)["hits"]["hits"]} == {old}
    alias(client, index_name, new, old)
    found = used.search(index_name, **wanted)["hits"]["hits"]
    assert [(hit["_index"], hit["_id"]) for hit in found] == [(new, "Result."), (new, "People.")]
    assert found[0]["_score"] == pytest.approx(1.0)


def test_a_document_that_came_with_the_new_index_is_found_at_once(
    client: OpenSearch, make: Callable[..., tuple[str, str]], index_name: str
) -> None:
    (old, _), (new, sentences) = make(OLD, "-1"), make(OLD, "-2")
    client.update(index=sentences, id="Result.", body={"doc": {"parent_id": "8"}}, params={"refresh": "true"})
    alias(client, index_name, old)
    used = ranker(client)
    with pytest.raises(DocumentMissing, match="has no document '8'"):
        used.search(index_name, text="x", aspect="outcome", document="8")
    alias(client, index_name, new, old)
    found = used.search(index_name, text="x", aspect="outcome", document="8")
    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["Result."]
