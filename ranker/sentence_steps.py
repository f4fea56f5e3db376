"""A search for sentences by a topic and an aspect, over all documents: two requests, as any search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from trifuse.encoder.types import Vectors
from trifuse.ranker.aspects import OfAspect
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.moving import Doubt, doubt_of
from trifuse.ranker.response import build_response
from trifuse.ranker.searches import Documents
from trifuse.ranker.sentence_aspects import (
    DOCUMENTS,
    MOST,
    aspect_body,
    aspect_response,
    best_by_topic,
    check_one_step,
    document_of,
    shown_body,
    topic_body,
    total_of,
)
from trifuse.ranker.sentence_groups import by_document, filled, ids_shown
from trifuse.ranker.sentence_request import SentenceRequest
from trifuse.ranker.server import as_sent, asking

Start = Callable[[Callable[[], Vectors]], Callable[[], Vectors]]
"""Starts to encode, and gives what waits for the vectors."""


def topic_then_aspect(
    ranker: HybridRanker, request: SentenceRequest, encoder: OfAspect, start: Start
) -> tuple[dict[str, Any], Doubt]:
    """Find documents by the topic, and rank their sentences by the aspect: see `sentence_aspects`.

    The first request fetches nothing of the documents, the second the page; only where sentences are grouped
    by document a third one does. The aspect's vector is made while the topic is encoded and searched.

    Returns:
        the response, and whether it may be of other sentences than the request was made for.

    Raises:
        BodyError: the body asks for what only a search in one step can do.
        SpaceMismatch: the sentences are of another space by now.
        IndexMissing, SearchRejected, SearchUnavailable: as `HybridRanker.search`.
    """
    started = time.perf_counter()
    user, wanted = request.user, request.wanted
    check_one_step(user)
    encoded = start(lambda: encoder.encode_queries([wanted.text]))
    found, looked_up = ranker.prepare(
        request.place.sentences,
        topic_body(request.body),
        text=wanted.text,
        filter=request.filter,
        size=DOCUMENTS,
        from_=0,
        explain=user.page.get("explain"),
        profile=replace(request.profile, execution="client", depth=max(request.profile.depth, DOCUMENTS)),
    )
    field, expression, similarity = found.field, found.target.expression, encoder.space.similarity
    found.target.require_space(field, encoder.space)
    retrieved, ranking = ranker.rank(found, looked_up)
    best = best_by_topic(ranking)

    def by_topic(documents: Iterable[str]) -> dict[str, Any]:
        """The response of the first step, which shows these documents alone."""
        shown: Documents = {best[document][0]: {} for document in documents}
        took_ms = round((time.perf_counter() - started) * 1000)
        return build_response(found, retrieved, ranking, shown, took_ms=took_ms)

    def ask(body: Mapping[str, Any]) -> dict[str, Any]:
        with asking(expression):
            answer: dict[str, Any] = ranker.client.search(index=expression, body=as_sent(body))
        return answer

    doubt = doubt_of(found, retrieved.raw_hits, whole=retrieved.dense_is_whole)
    if not best or doubt == "foreign":
        return by_topic(()), doubt
    topics = {document: score for document, (_, score) in best.items()}
    vector, filter = encoded()[0].tolist(), found.filters.clause
    body = aspect_body(vector, topics, filter, field=field, similarity=similarity, timeout=user.timeout)
    words = found.user.query or {"match": {"text": wanted.text}}
    show = partial(shown_body, body, user, words, found.target.hidden_fields())
    per_document = wanted.per_document
    answer = shown = ask(show() if per_document is None else {**body, "size": MOST})
    whole = answer["hits"]["total"]["value"] > 0 and not answer["_shards"].get("failed")
    meanwhile = doubt_of(found, answer["hits"]["hits"], whole=whole)
    if per_document is not None:
        counted = {**answer["hits"], "total": total_of(by_topic(()), answer, topics)}
        groups = by_document(
            {**answer, "hits": counted}, sentences=per_document, start=user.start, size=user.size
        )
        ids = ids_shown(groups)
        shown = ask(show(ids=ids)) if ids else {**answer, "hits": {**answer["hits"], "hits": []}}
    first = by_topic(map(document_of, shown["hits"]["hits"]))
    response = aspect_response(first, shown, topics, similarity)
    if per_document is not None:
        response["hits"] = filled(groups, response["hits"]["hits"])
    return response, doubt if meanwhile == "none" else meanwhile
