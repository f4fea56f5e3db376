"""A search for sentences by a topic and an aspect, over all documents: two requests, as any search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from trifuse.encoder.types import Vectors
from trifuse.ranker.aspects import OfAspect
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.moving import Doubt, doubt_of
from trifuse.ranker.response import build_response
from trifuse.ranker.searches import Documents
from trifuse.ranker.sentence_aspects import (
    DOCUMENTS,
    aspect_body,
    aspect_response,
    best_by_topic,
    check_one_step,
    document_of,
    topic_body,
)
from trifuse.ranker.sentence_request import SentenceRequest
from trifuse.ranker.server import as_sent, asking

Start = Callable[[Callable[[], Vectors]], Callable[[], Vectors]]
"""Starts to encode, and gives what waits for the vectors."""


def topic_then_aspect(
    ranker: HybridRanker, request: SentenceRequest, encoder: OfAspect, start: Start
) -> tuple[dict[str, Any], Doubt]:
    """Find documents by the topic, and rank their sentences by the aspect: see `sentence_aspects`.

    The first request fetches nothing of the documents, the second the page. The aspect's vector is made
    while the topic is encoded and searched.

    Returns:
        the response, and whether it may be of other sentences than the request was made for.

    Raises:
        BodyError: the body asks for what only a search in one step can do.
        SpaceMismatch: the sentences are of another space by now.
        IndexMissing, SearchRejected, SearchUnavailable: as `HybridRanker.search`.
    """
    started = time.perf_counter()
    user, profile, text = request.user, request.profile, request.wanted.text
    check_one_step(user)
    encoded = start(lambda: encoder.encode_queries([text]))
    found, looked_up = ranker.prepare(
        request.place.sentences,
        topic_body(request.body),
        text=text,
        filter=request.filter,
        size=DOCUMENTS,
        from_=0,
        explain=user.page.get("explain"),
        profile=replace(profile, execution="client", depth=max(profile.depth, DOCUMENTS)),
    )
    found.target.require_space(found.field, encoder.space)
    retrieved, ranking = ranker.rank(found, looked_up)
    best = best_by_topic(ranking)

    def by_topic(documents: Iterable[str]) -> dict[str, Any]:
        """The response of the first step, which shows these documents alone."""
        shown: Documents = {best[document][0]: {} for document in documents}
        took_ms = round((time.perf_counter() - started) * 1000)
        return build_response(found, retrieved, ranking, shown, took_ms=took_ms)

    doubt = doubt_of(found, retrieved.raw_hits, whole=retrieved.dense_is_whole)
    if not best or doubt == "foreign":
        return by_topic(()), doubt
    topics = {document: score for document, (_, score) in best.items()}
    similarity = encoder.space.similarity
    body = aspect_body(
        user,
        found.user.query,
        encoded()[0].tolist(),
        topics,
        found.filters.clause,
        field=found.field,
        similarity=similarity,
        text=text,
        hidden=found.target.hidden_fields(),
        grouped=request.wanted.per_document is not None,
    )
    with asking(found.target.expression):
        answer = ranker.client.search(index=found.target.expression, body=as_sent(body))
    hits = answer["hits"]["hits"]
    whole = answer["hits"]["total"]["value"] > 0 and not answer["_shards"].get("failed")
    meanwhile = doubt_of(found, hits, whole=whole)
    response = aspect_response(by_topic(map(document_of, hits)), answer, topics, similarity)
    return response, doubt if meanwhile == "none" else meanwhile
