"""Search among sentences: by an aspect or not, within a document, in sections, by document."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import AspectUnknown, SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.types import Vectors
from trifuse.indexer.mapping import sentence_index, sentence_mapping
from trifuse.indexer.sentences.origin import Origin, meta_with_origin
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE
from trifuse.ranker import BodyError, HybridRanker, Profile
from trifuse.ranker.errors import DocumentMissing, IndexMissing
from trifuse.ranker.sentences import SentenceRanker

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
AXES = {"population": [1.0, 0.0, 0.0], "outcome": [0.0, 1.0, 0.0]}
PEOPLE, RESULT, BOTH, ASIDE = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]

SENTENCES: list[dict[str, Any]] = [
    {"parent_id": "A", "section": "title", "text": "Aspirin after stroke", "vector": ASIDE},
    {
        "parent_id": "A",
        "section": "body.methods",
        "text": "We enrolled 40 adults with stroke.",
        "vector": PEOPLE,
    },
    {"parent_id": "A", "section": "body.results", "text": "Fewer of the adults died.", "vector": BOTH},
    {"parent_id": "A", "section": "body.results", "text": "Mortality fell by a half.", "vector": RESULT},
    {
        "parent_id": "B",
        "section": "body.results",
        "text": "Pain fell in children.",
        "vector": [0.8, 0.6, 0.0],
    },
    {"parent_id": "C", "parent_routing": "r", "section": "body", "text": "Nothing of note.", "vector": ASIDE},
    {"parent_id": "D", "section": "body", "text": "Not embedded yet."},
]


class Aspects:
    """Every text at the axis of the aspect that is asked for."""

    name, revision, provider, aspects = "axes", "r1", "cpu", tuple(AXES)

    def __init__(self, space: EncoderSpace = SPACE) -> None:
        self.space = space
        self.asked: list[tuple[list[str], str]] = []

    def encode_queries(self, texts: Sequence[str], aspect: str) -> Vectors:
        self.asked.append((list(texts), aspect))
        return np.array([AXES[aspect]] * len(texts), dtype=np.float32)


@pytest.fixture(scope="module")
def notes(client: OpenSearch) -> Iterator[str]:
    """Five documents, one of them without sentences, and the sentences of the others: don't change them."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    make_notes(client, name)
    yield name
    for index in client.indices.get(index=f"{name}*"):
        client.indices.delete(index=index)


@pytest.fixture
def own_notes(client: OpenSearch, index_name: str) -> str:
    """The same, to be changed."""
    make_notes(client, index_name)
    return index_name


def make_notes(client: OpenSearch, name: str) -> None:
    make_sentences(client, name, SENTENCES)
    for document, routing in (("A", None), ("B", None), ("C", "r"), ("D", None), ("bare", None)):
        params = {"routing": routing} if routing else {}
        client.index(index=name, id=document, body={"status": "open"}, params=params)
    client.indices.refresh(index=name)


def make_sentences(
    client: OpenSearch, index: str, sentences: Sequence[dict[str, Any]], *, space: EncoderSpace = SPACE
) -> str:
    name = sentence_index(index)
    body = sentence_mapping(Space(space, SENTENCE_TEMPLATE), filters={"status": {"type": "keyword"}})
    body["mappings"]["_meta"] = meta_with_origin(body["mappings"]["_meta"], Origin(index, "u"))
    client.indices.create(index=name, body=body)
    meta = {"trifuse": {"sentences": name}}
    client.indices.create(
        index=index, body={"mappings": {"_meta": meta, "properties": {"status": {"type": "keyword"}}}}
    )
    lines: list[Any] = []
    for number, sentence in enumerate(sentences):
        vector = {VECTOR_FIELD: sentence["vector"]} if "vector" in sentence else {}
        source = {key: value for key, value in sentence.items() if key != "vector"}
        place = {"ordinal": number, "start": 0, "end": len(sentence["text"])}
        lines += [{"index": {"_id": f"s{number}"}}, {"status": "open", **place, **source, **vector}]
    for start in range(0, len(lines), 4000):
        assert not client.bulk(index=name, body=lines[start : start + 4000])["errors"]
    client.indices.refresh(index=name)
    return name


@pytest.fixture
def sentences(client: OpenSearch, tiny: Any) -> SentenceRanker:
    """Without an aspect every text is at the first axis, as `population` is."""
    return SentenceRanker(HybridRanker(client, tiny), Aspects())


def texts(response: dict[str, Any]) -> list[str]:
    return [hit["_source"]["text"] for hit in response["hits"]["hits"]]


def ids(response: dict[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def scores(response: dict[str, Any]) -> list[tuple[str, float]]:
    return [(hit["_id"], pytest.approx(hit["_score"], abs=1e-6)) for hit in response["hits"]["hits"]]


def test_the_same_query_by_two_aspects(sentences: SentenceRanker, notes: str) -> None:
    """By the topic A is at 1.0 (its s1), B at 0.8; a sentence of cosine c to the aspect adds (1 + c) / 2."""
    people = sentences.search(notes, text="stroke", aspect="population", size=3)
    result = sentences.search(notes, text="stroke", aspect="outcome", size=3)
    assert scores(people) == [("s1", 2.0), ("s2", 1.8), ("s4", 1.7)]
    assert scores(result) == [("s3", 2.0), ("s2", 1.9), ("s4", 1.6)]
    told = result["hits"]["hits"][1]["trifuse"]
    assert told["topic"] == pytest.approx(1.0)
    assert told["aspect"] == {"score": pytest.approx(0.9), "similarity": pytest.approx(0.8, abs=1e-6)}
    assert result["hits"]["total"] == {"value": 6, "relation": "eq"}


def test_a_hit_is_a_sentence_with_its_place_and_no_vector(sentences: SentenceRanker, notes: str) -> None:
    (hit,) = sentences.search(notes, text="stroke", aspect="population", size=1)["hits"]["hits"]
    assert hit["_source"] == {
        "parent_id": "A",
        "section": "body.methods",
        "ordinal": 1,
        "start": 0,
        "end": 34,
        "text": "We enrolled 40 adults with stroke.",
        "status": "open",
    }
    assert hit["highlight"] == {"text": ["We enrolled 40 adults with <em>stroke</em>."]}
    assert hit["trifuse"]["aspect"]["similarity"] == pytest.approx(1.0)
    assert hit["trifuse"]["legs"]["dense"]["rank"] == 1
    assert hit["trifuse"]["legs"]["lexical"] is None


def test_what_was_asked_for_is_told(sentences: SentenceRanker, notes: str) -> None:
    response = sentences.search(notes, text="stroke", aspect="outcome")
    told = response["trifuse"]
    assert told["aspect"] == {
        "name": "outcome",
        "by": "given",
        "words": None,
        "adapter": "axes",
        "reason": None,
    }
    assert told["sentences"] == {"index": sentence_index(notes), "lacking": []}
    assert told["profile"] == "aspect"
    assert told["legs"]["lexical"]["state"] == "off"


@pytest.mark.parametrize(
    ("question", "aspect", "words", "first"),
    [
        ("Who was enrolled?", "population", "who was", "s1"),
        ("Did mortality improve?", "outcome", "did mortality improve", "s3"),
    ],
)
def test_a_question_is_mapped_to_an_aspect(
    sentences: SentenceRanker, notes: str, question: str, aspect: str, words: str, first: str
) -> None:
    response = sentences.search(notes, text=question, aspect="auto", size=1)
    told = {"name": aspect, "by": "rule", "words": words, "adapter": "axes", "reason": None}
    assert response["trifuse"]["aspect"] == told
    assert ids(response) == [first]


@pytest.mark.parametrize("text", ["apoplexy", "谁参加了试验？", "¿Quién participó?"])
def test_where_no_rule_tells_the_plain_encoder_answers(
    sentences: SentenceRanker, notes: str, text: str
) -> None:
    response = sentences.search(notes, text=text, aspect="auto", size=1)
    told = {"name": None, "by": "rule", "words": None, "adapter": None, "reason": "its wording names none"}
    assert response["trifuse"]["aspect"] == told
    assert response["trifuse"]["profile"] == "default"
    assert ids(response) == ["s1"]


def test_a_question_for_an_aspect_that_no_adapter_knows_is_answered_without(
    sentences: SentenceRanker, notes: str
) -> None:
    response = sentences.search(notes, text="What was it compared with?", aspect="auto", size=1)
    told = response["trifuse"]["aspect"]
    assert (told["name"], told["words"], told["adapter"]) == (None, "what was it compared with", None)
    assert told["reason"] == "there is no aspect 'comparator' here: give one of population, outcome"
    assert response["trifuse"]["profile"] == "default"
    assert ids(response) == ["s1"]


def test_other_languages_are_searched_by_an_aspect_too(sentences: SentenceRanker, notes: str) -> None:
    assert ids(sentences.search(notes, text="脳卒中", aspect="outcome", size=1)) == ["s3"]


def test_without_an_aspect_words_count_too(sentences: SentenceRanker, notes: str) -> None:
    response = sentences.search(notes, text="mortality", size=1, profile=Profile(weights={"lexical": 1}))
    assert ids(response) == ["s3"]
    assert "aspect" not in response["trifuse"]
    both = sentences.search(
        notes, text="pain", aspect="outcome", size=1, profile=Profile(weights={"lexical": 5, "dense": 1})
    )
    assert ids(both) == ["s4"]


@pytest.mark.parametrize("by", ["parents", "alias", "sentences", "pattern", "list"])
def test_an_index_may_be_named_in_several_ways(
    client: OpenSearch, sentences: SentenceRanker, notes: str, by: str
) -> None:
    alias = f"{notes}-alias"
    client.indices.put_alias(index=notes, name=alias)
    named: Any = {
        "parents": notes,
        "alias": alias,
        "sentences": sentence_index(notes),
        "pattern": f"{notes}*",
        "list": [notes, sentence_index(notes)],
    }[by]
    assert ids(sentences.search(named, text="x", aspect="outcome", size=1)) == ["s3"]


def test_within_one_document_all_of_it_is_scored(sentences: SentenceRanker, notes: str) -> None:
    response = sentences.search(notes, text="stroke", aspect="outcome", document="A")
    assert ids(response) == ["s3", "s2", "s0", "s1"]
    assert response["hits"]["total"] == {"value": 4, "relation": "eq"}
    assert response["trifuse"]["legs"]["dense"]["exact"] is True


def test_a_document_by_its_routing(sentences: SentenceRanker, notes: str) -> None:
    assert ids(sentences.search(notes, text="x", aspect="outcome", document="C", routing="r")) == ["s5"]
    with pytest.raises(DocumentMissing, match=f"'{notes}' has no document 'C' of the routing 's'"):
        sentences.search(notes, text="x", aspect="outcome", document="C", routing="s")


def test_sections(sentences: SentenceRanker, notes: str) -> None:
    assert ids(sentences.search(notes, text="x", aspect="population", sections=["body.results"])) == [
        "s4",
        "s2",
        "s3",
    ]
    within = sentences.search(notes, text="x", aspect="population", sections=["body"], document="A")
    assert ids(within) == ["s1", "s2", "s3"]
    with pytest.raises(BodyError, match=r"'nope': sections are body, body\.methods, body\.results, title"):
        sentences.search(notes, text="x", aspect="population", sections=["nope"])


def test_filters_hold(client: OpenSearch, sentences: SentenceRanker, own_notes: str) -> None:
    name = sentence_index(own_notes)
    client.update(index=name, id="s3", body={"doc": {"status": "closed"}}, params={"refresh": "true"})
    closed = {"term": {"status": "closed"}}
    response = sentences.search(own_notes, text="x", aspect="outcome", filter=closed)
    assert ids(response) == ["s3"]
    assert ids(sentences.search(own_notes, text="x", aspect="outcome", filter=closed, document="A")) == ["s3"]
    assert ids(sentences.search(own_notes, text="x", aspect="outcome", filter=closed, document="B")) == []
    alias = f"{own_notes}-closed"
    client.indices.put_alias(index=own_notes, name=alias, body={"filter": closed})
    assert ids(sentences.search(alias, text="x", aspect="outcome")) == ["s3"]
    client.indices.put_alias(index=own_notes, name=f"{alias}-2", body={"filter": {"term": {"tenant": "a"}}})
    with pytest.raises(BodyError, match="whose filter is on 'tenant', which sentences don't repeat"):
        sentences.search(f"{alias}-2", text="x", aspect="outcome")
    with pytest.raises(DocumentMissing, match="has no document 'nobody'"):
        sentences.search(alias, text="x", aspect="outcome", document="nobody")
    with pytest.raises(DocumentMissing, match="has no document 'B'"):
        sentences.search(alias, text="x", aspect="outcome", document="B")


def test_a_body_of_ones_own_keeps_what_it_requires(sentences: SentenceRanker, notes: str) -> None:
    body = {"query": {"bool": {"must": {"match": {"text": "fell"}}, "filter": {"term": {"parent_id": "A"}}}}}
    assert ids(sentences.search(notes, body, text="x", aspect="outcome", sections=["body.results"])) == [
        "s3",
        "s2",
    ]
    assert "highlight" not in sentences.search(notes, body, text="x", aspect="outcome")["hits"]["hits"][0]


def test_grouped_by_document(sentences: SentenceRanker, notes: str) -> None:
    response = sentences.search(notes, text="x", aspect="outcome", per_document=2, size=2)
    shown = [
        (hit["fields"]["parent_id"], [each["_id"] for each in hit["inner_hits"]["sentences"]["hits"]["hits"]])
        for hit in response["hits"]["hits"]
    ]
    assert shown == [(["A"], ["s3", "s2"]), (["B"], ["s4"])]
    assert response["hits"]["total"] == {"value": 3, "relation": "eq"}
    first = response["hits"]["hits"][0]
    assert [each["_source"]["text"] for each in first["inner_hits"]["sentences"]["hits"]["hits"]] == [
        "Mortality fell by a half.",
        "Fewer of the adults died.",
    ]
    assert (first["_score"], first["trifuse"]["topic"]) == pytest.approx((2.0, 1.0))
    adults = sentences.search(notes, text="adults", aspect="outcome", per_document=2, size=1, explain=True)
    (inner,) = [hit["inner_hits"]["sentences"]["hits"] for hit in adults["hits"]["hits"]]
    assert inner["total"]["value"] == 4
    assert inner["hits"][1]["highlight"] == {"text": ["Fewer of the <em>adults</em> died."]}
    assert inner["hits"][1]["_explanation"]["value"] > 0
    second = sentences.search(notes, text="x", aspect="outcome", per_document=1, size=1, from_=1)
    assert ids(second) == ["s4"]


def test_a_document_of_ten_thousand_sentences(
    client: OpenSearch, sentences: SentenceRanker, index_name: str
) -> None:
    many = [
        {"parent_id": "L", "section": "body", "text": f"Sentence {n}.", "vector": [1.0, n / 10_000, 0.0]}
        for n in range(10_000)
    ]
    make_sentences(client, index_name, many)
    response = sentences.search(index_name, text="x", aspect="outcome", document="L", size=2)
    assert texts(response) == ["Sentence 9999.", "Sentence 9998."]
    assert response["hits"]["total"]["relation"] == "gte"


def test_the_servers_own_fusion(sentences: SentenceRanker, notes: str) -> None:
    profile = Profile(weights={"lexical": 0.5, "dense": 0.5}, execution="native")
    everywhere = sentences.search(notes, text="mortality", aspect="outcome", profile=profile)
    assert ids(everywhere)[0] == "s3"
    within = sentences.search(notes, text="adults", aspect="outcome", profile=profile, document="A")
    assert within["trifuse"]["execution"] == "native"
    assert sorted(ids(within)) == ["s0", "s1", "s2", "s3"]
    grouped = sentences.search(notes, text="mortality", aspect="outcome", profile=profile, per_document=1)
    assert ids(grouped)[0] == "s3"


def test_over_all_documents_it_is_explained_and_paged(sentences: SentenceRanker, notes: str) -> None:
    response = sentences.search(notes, text="x", aspect="outcome", explain=True, from_=1, size=1)
    (hit,) = response["hits"]["hits"]
    assert hit["_id"] == "s2"
    assert hit["_explanation"]["value"] > 0
    assert sentences.search(notes, text="x", aspect="outcome", size=0)["hits"]["hits"] == []
    with pytest.raises(BodyError, match="the body's 'aggs' can't be used by an aspect over all documents"):
        sentences.search(notes, {"aggs": {"n": {"terms": {"field": "section"}}}}, text="x", aspect="outcome")


def test_an_unknown_aspect_lists_those_known(sentences: SentenceRanker, notes: str) -> None:
    with pytest.raises(AspectUnknown, match=r"'dose'.*: give one of population, outcome"):
        sentences.search(notes, text="x", aspect="dose")


def test_an_adapter_of_another_space_is_refused(client: OpenSearch, tiny: Any, notes: str) -> None:
    other = EncoderSpace("other", "r1", "fp32", "cls", 3, True, "cosine")
    adapter = Aspects(other)
    with pytest.raises(SpaceMismatch, match=f"'{SPACE.id}', the adapter 'axes' is for '{other.id}'"):
        SentenceRanker(HybridRanker(client, tiny), adapter).search(notes, text="x", aspect="outcome")
    assert adapter.asked == []
    with pytest.raises(SpaceMismatch, match="no adapter is known for it: train one"):
        SentenceRanker(HybridRanker(client, tiny)).search(notes, text="x", aspect="outcome")


def test_an_index_without_sentences(client: OpenSearch, sentences: SentenceRanker, index_name: str) -> None:
    client.indices.create(index=index_name)
    with pytest.raises(BodyError, match=r"has no sentences: .*`trifuse attach .*`trifuse load --sentences`"):
        sentences.search(index_name, text="x", aspect="outcome")
    with pytest.raises(IndexMissing):
        sentences.search(f"{index_name}-nope", text="x", aspect="outcome")


def test_an_index_of_sentences_that_is_gone(
    client: OpenSearch, sentences: SentenceRanker, own_notes: str
) -> None:
    client.indices.delete(index=sentence_index(own_notes))
    with pytest.raises(IndexMissing, match=f"sentences of '{own_notes}' is gone.* makes it again"):
        sentences.search(own_notes, text="x", aspect="outcome")


def test_one_of_two_indices_has_sentences(client: OpenSearch, sentences: SentenceRanker, notes: str) -> None:
    client.indices.create(index=f"{notes}-bare")
    response = sentences.search([notes, f"{notes}-bare"], text="x", aspect="outcome", size=1)
    assert ids(response) == ["s3"]
    assert response["trifuse"]["sentences"]["lacking"] == [f"{notes}-bare"]
    client.indices.delete(index=f"{notes}-bare")
    response = sentences.search(f"{notes}*", text="x", aspect="outcome", size=1)
    assert ids(response) == ["s3"]
    assert response["trifuse"]["sentences"]["lacking"] == []


def test_a_document_that_is_not_there_or_has_nothing_to_search(sentences: SentenceRanker, notes: str) -> None:
    with pytest.raises(DocumentMissing, match="has no document 'nobody': check the id"):
        sentences.search(notes, text="x", aspect="outcome", document="nobody")
    with pytest.raises(DocumentMissing, match=f"'bare' of '{notes}' has no sentences.*trifuse sync {notes}"):
        sentences.search(notes, text="x", aspect="outcome", document="bare")
    with pytest.raises(DocumentMissing, match="none of the sentences of the document 'D' has a vector yet"):
        sentences.search(notes, text="x", aspect="outcome", document="D")
    words = sentences.search(notes, text="embedded", document="D", profile=Profile(weights={"lexical": 1}))
    assert ids(words) == ["s6"]


def test_sentences_of_which_none_has_a_vector_yet(
    client: OpenSearch, sentences: SentenceRanker, own_notes: str
) -> None:
    """By an aspect that is said: by words, among others, they are found, or not, as ever."""
    unset = {"script": {"source": f"ctx._source.remove('{VECTOR_FIELD}')"}, "query": {"match_all": {}}}
    client.update_by_query(index=sentence_index(own_notes), body=unset, params={"refresh": "true"})
    with pytest.raises(DocumentMissing, match=f"none of the sentences of '{own_notes}' has a vector yet"):
        sentences.search(own_notes, text="x", aspect="outcome")
    assert ids(sentences.search(own_notes, text="nowhere")) == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"text": ""}, "the text is empty"),
        ({"routing": "r"}, "routing is 'r': it belongs to a document"),
        ({"per_document": 0}, "per_document is 0: give a whole number of 1 or more"),
        (
            {"per_document": 2, "body": {"collapse": {"field": "parent_id"}}},
            "leave out the body's 'collapse'",
        ),
        ({"profile": Profile(weights={"lexical": 1})}, "no weight for dense"),
        ({"adapter": "nope"}, "no adapter 'nope' is at hand: there is axes"),
        ({"filter": {}}, "give one query as a JSON object"),
        ({"size": -1}, "size is -1"),
        ({"document": "A", "filter": []}, "give one query as a JSON object"),
    ],
)
def test_what_contradicts_itself_is_refused(
    sentences: SentenceRanker, notes: str, wanted: dict[str, Any], message: str
) -> None:
    with pytest.raises(BodyError, match=message):
        sentences.search(notes, **{"text": "x", "aspect": "outcome", **wanted})


@pytest.fixture
def sent(client: OpenSearch, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every request that the client sends: method, path, parameters and body."""
    kept: list[tuple[Any, ...]] = []
    perform = client.transport.perform_request

    def recorded(method: str, url: str, **more: Any) -> Any:
        kept.append((method, url, repr(more.get("params")), repr(more.get("body"))))
        return perform(method, url, **more)

    monkeypatch.setattr(client.transport, "perform_request", recorded)
    return kept


@pytest.mark.parametrize("index", ["parents", "sentences"])
def test_without_an_aspect_the_same_bytes_are_sent_with_an_adapter_and_without(
    client: OpenSearch, tiny: Any, make_index: Callable[..., str], notes: str, sent: list[Any], index: str
) -> None:
    name = make_index([{"_id": "1", "title": "stroke", "angle": 0}], suffix="-plain")
    runs = []
    for adapters in (None, Aspects()):
        ranker = HybridRanker(client, tiny)
        beside = SentenceRanker(ranker, adapters)
        sent.clear()
        if index == "parents":
            ranker.search(name, text="stroke", size=3)
        else:
            beside.search(notes, text="stroke", size=3)
        runs.append(list(sent))
    assert runs[0] == runs[1]
    assert len(runs[0]) >= 3


class Counting:
    """Counts what an encoder encodes."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.space, self.provider = encoder.space, encoder.provider
        self.asked: list[list[str]] = []

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        found: Vectors = self._encoder.encode_queries(texts)
        return found


@pytest.mark.parametrize("profile", [None, Profile(weights={"lexical": 0.5, "dense": 0.5})])
@pytest.mark.parametrize("document", [None, "A"])
def test_an_aspect_takes_as_many_requests_as_the_search_without_one(
    client: OpenSearch, tiny: Any, notes: str, sent: list[Any], profile: Profile | None, document: str | None
) -> None:
    encoder, adapter = Counting(tiny), Aspects()
    ranker = SentenceRanker(HybridRanker(client, encoder), adapter)  # type: ignore[arg-type]
    made = {}
    for aspect in (None, "outcome"):
        ranker.search(notes, text="adults", aspect=aspect, document=document, profile=profile)
        for each in (sent, encoder.asked, adapter.asked):
            each.clear()
        ranker.search(notes, text="adults", aspect=aspect, document=document, profile=profile)
        paths = [path.rsplit("/", 1)[-1] for _, path, *_ in sent]
        made[aspect] = (paths, len(encoder.asked), len(adapter.asked))
    assert made[None] == (["_msearch", "_search"], 1, 0)
    # Over all documents the topic is encoded without the adapter, as it is searched without it.
    assert made["outcome"] == (["_msearch", "_search"], 1 if document is None else 0, 1)


def test_adapters_are_switched_without_a_write(
    client: OpenSearch, tiny: Any, notes: str, sent: list[Any]
) -> None:
    def versions() -> dict[str, Any]:
        body = {"seq_no_primary_term": True, "version": True, "size": 100}
        hits = client.search(index=f"{notes}*", body=body)["hits"]["hits"]
        return {hit["_id"]: (hit["_seq_no"], hit["_version"]) for hit in hits}

    before = versions()
    meta = client.indices.get_mapping(index=f"{notes}*")
    sent.clear()
    for adapter in (Aspects(), Aspects()):
        ranker = SentenceRanker(HybridRanker(client, tiny), adapter)
        for aspect in AXES:
            ranker.search(notes, text="x", aspect=aspect)
    assert {method for method, *_ in sent} <= {"GET", "POST"}
    assert {path.rsplit("/", 1)[-1] for method, path, *_ in sent if method == "POST"} <= {
        "_msearch",
        "_search",
    }
    assert versions() == before
    assert client.indices.get_mapping(index=f"{notes}*") == meta
