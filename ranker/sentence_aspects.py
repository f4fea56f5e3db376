"""Sentences over a whole collection by a topic and an aspect, in two searches. Pure.

An adapter is trained to tell sentences of one document apart, which are all of one topic: alone it finds the
aspect in documents of any topic. So documents are found by the topic, without the adapter, and of their
sentences each scores

    score(s) = topic(document of s) + aspect(s)

topic: the score of the document's best sentence in the first search; aspect: the adapter's, as a k-NN query
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.body import UserBody
from trifuse.ranker.clicks.past_queries import similarity_of
from trifuse.ranker.errors import BodyError
from trifuse.ranker.filters import all_of
from trifuse.ranker.legs import exact_clause
from trifuse.ranker.queries import items
from trifuse.ranker.ranking import Ranking
from trifuse.ranker.sentence_groups import GROUPED_BY
from trifuse.ranker.source import without_vectors
from trifuse.ranker.types import Clause, Key
from trifuse.ranker.values import MAX_HITS

DOCUMENTS = 50
"""So many documents are looked into, those of the topic."""

BY_DOCUMENT = "parent_id"

_TOPIC_KEYS = ("query", "post_filter", "timeout")


def check_one_step(user: UserBody) -> None:
    """Refuse what only a search in one step can do.

    Raises:
        BodyError: naming the key.
    """
    beyond = sorted(user.lexical.keys() - {"track_total_hits"})
    if user.collapse is not None:
        beyond.append("collapse")
    if beyond:
        raise BodyError(
            f"the body's {beyond[0]!r} can't be used by an aspect over all documents, which takes two "
            "searches: leave it out, or name a document"
        )


def topic_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The search for documents by their best sentence, of which the ids alone are shown."""
    kept = {key: body[key] for key in _TOPIC_KEYS if key in body}
    return {**kept, "collapse": {"field": BY_DOCUMENT}, "_source": False}


def best_by_topic(ranking: Ranking) -> dict[str, tuple[Key, float]]:
    """Document to its best sentence, and that one's score."""
    scores = ranking.fusion.scores[list(ranking.places)].tolist()
    return {ranking.groups[key]: (key, score) for key, score in zip(ranking.keys, scores, strict=True)}


def document_of(hit: Mapping[str, Any]) -> str:
    """The document of a sentence that is a hit."""
    return str(hit["fields"][BY_DOCUMENT][0])


def aspect_body(
    vector: Sequence[float],
    topics: Mapping[str, float],
    filter: Clause | None,
    *,
    field: str,
    similarity: Similarity,
    timeout: str | None = None,
) -> dict[str, Any]:
    """The search for the sentences of these documents; a hit says no more than which document it is of.

    Args:
        vector: (dim,) of the aspect.
        filter: what held for vectors in the first search.
    """
    held = [*items(filter), {"terms": {BY_DOCUMENT: list(topics)}}]
    scored = exact_clause(field, vector, similarity, all_of(held))
    added = [
        {"constant_score": {"filter": {"term": {BY_DOCUMENT: document}}, "boost": boost}}
        for document, boost in _boosts(topics).items()
    ]
    body: dict[str, Any] = {"search_pipeline": "_none", "_source": False, "docvalue_fields": list(GROUPED_BY)}
    if timeout is not None:
        body["timeout"] = timeout
    return {**body, "query": {"bool": {"must": [scored], "should": added}}, "track_total_hits": True}


def shown_body(
    body: Mapping[str, Any], user: UserBody, words: Clause, hidden: Sequence[str], ids: Sequence[str] = ()
) -> dict[str, Any]:
    """The search with its hits as the user wants them shown.

    Args:
        words: what is marked in them, unless the user says otherwise.
        hidden: fields that no hit shows.
        ids: of those to show; else they are the user's page.
    """
    shown = {**{key: value for key, value in body.items() if key != "_source"}, **user.page}
    shown["docvalue_fields"] = [*items(user.page.get("docvalue_fields")), *GROUPED_BY]
    if isinstance(shown.get("highlight"), Mapping):
        shown["highlight"] = {"highlight_query": words, **shown["highlight"]}
    shown |= {"from": user.start, "size": user.size}
    if ids:
        named = {"bool": {**body["query"]["bool"], "filter": [{"ids": {"values": list(ids)}}]}}
        shown |= {"from": 0, "size": MAX_HITS, "query": named}
    return without_vectors(shown, hidden)


def aspect_response(
    first: Mapping[str, Any], answer: Mapping[str, Any], topics: Mapping[str, float], similarity: Similarity
) -> dict[str, Any]:
    """The response of both searches; `hits.total` counts the sentences of the documents looked into.

    Args:
        first: the response of the search for the topic, with what it found of the documents of the answer's
            hits; its time is that of both.
        answer: of the search for the aspect; its hits have `parent_id` among their fields.
    """
    boosts = _boosts(topics)
    legs = {document_of(hit): hit["trifuse"]["legs"] for hit in first["hits"]["hits"]}
    hits = []
    for hit in answer["hits"]["hits"]:
        document = document_of(hit)
        topic, aspect = topics[document], hit["_score"] - boosts[document]
        told = {
            "topic": topic,
            "aspect": {"score": aspect, "similarity": similarity_of(aspect, similarity)},
            "legs": legs[document],
        }
        shown = {**hit, "_score": topic + aspect, "trifuse": told}
        if "_explanation" in hit:
            shown["_explanation"] = _explanation(topic, aspect)
        hits.append(shown)
    whole = len(topics) < DOCUMENTS and first["hits"]["total"]["relation"] == "eq"
    total = {"value": answer["hits"]["total"]["value"], "relation": "eq" if whole else "gte"}
    return {
        "took": first["took"],
        "timed_out": first["timed_out"] or answer["timed_out"],
        "_shards": answer["_shards"],
        "hits": {"total": total, "max_score": hits[0]["_score"] if hits else None, "hits": hits},
        "trifuse": first["trifuse"],
    }


def _explanation(topic: float, aspect: float) -> dict[str, Any]:
    """The sum as it is told; the server's own is of boosts, and repeats the whole vector."""
    parts = {"topic: its document's best sentence": topic, "aspect: the sentence by the adapter": aspect}
    details = [{"value": value, "description": said, "details": []} for said, value in parts.items()]
    return {"value": topic + aspect, "description": "topic and aspect, summed by trifuse", "details": details}


def _boosts(topics: Mapping[str, float]) -> dict[str, float]:
    """What is added to the sentences of each document: by how much it is better than the last of them."""
    least = min(topics.values())
    return {document: score - least for document, score in topics.items()}
