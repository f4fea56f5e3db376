"""A search for sentences by a topic and an aspect, over all documents: two requests, as any search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Similarity
from trifuse.encoder.types import Vectors
from trifuse.ranker.aspects import OfAspect
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.moving import Doubt, doubt_of
from trifuse.ranker.ranking import Ranking
from trifuse.ranker.request import Request
from trifuse.ranker.response import build_response
from trifuse.ranker.retrieved import Retrieved
from trifuse.ranker.searches import Documents
from trifuse.ranker.sentence_aspects import (
    DOCUMENTS,
    aspect_body,
    aspect_response,
    best_by_topic,
    check_one_step,
    document_of,
    shown_body,
    topic_body,
)
from trifuse.ranker.sentence_groups import filled, groups_body, groups_of
from trifuse.ranker.sentence_request import SentenceRequest
from trifuse.ranker.server import as_sent, asking
from trifuse.ranker.types import Key

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
    check_one_step(request.user)
    encoded = start(lambda: encoder.encode_queries([request.wanted.text]))
    found = _by_topic(ranker, request, encoder.space, started)
    if not found.best or found.doubt == "foreign":
        return found.response(()), found.doubt
    asked = found.request
    body = aspect_body(
        encoded()[0].tolist(),
        found.topics,
        asked.filters.clause,
        field=asked.field,
        similarity=found.similarity,
        timeout=request.user.timeout,
    )
    words = asked.user.query or {"match": {"text": asked.text}}
    show = partial(shown_body, body, request.user, words, asked.target.hidden_fields())
    ask = partial(_ask, ranker.client, asked.target.expression)
    number = request.wanted.per_document
    if number is None:
        answer = ask(show())
        return found.ranked(answer), found.doubt_of(answer)
    answer = ask(groups_body(body, sentences=number, documents=DOCUMENTS))
    response, groups = found.ranked(answer), groups_of(answer)
    page = groups[request.user.start : request.user.start + request.user.size]
    ids = [hit["_id"] for group in page for hit in group.hits]
    if ids:
        answer = ask(show(ids=ids))
    hits = filled(page, found.ranked(answer)["hits"]["hits"])
    total = {**response["hits"]["total"], "value": len(groups)}
    shown = {"total": total, "max_score": hits[0]["_score"] if hits else None, "hits": hits}
    return {**response, "hits": shown}, found.doubt_of(answer)


@dataclass(frozen=True)
class _Found:
    """The documents of a topic.

    Args:
        request: the search for them.
        similarity: what vectors are compared by.
        started: when the search began, by `time.perf_counter`.
        best: document to its best sentence, and that one's score.
        doubt: whether they may be of other indices than the request was made for.
    """

    request: Request
    similarity: Similarity
    started: float
    retrieved: Retrieved
    ranking: Ranking
    best: Mapping[str, tuple[Key, float]]
    doubt: Doubt

    @property
    def topics(self) -> dict[str, float]:
        """Document to score."""
        return {document: score for document, (_, score) in self.best.items()}

    def response(self, documents: Iterable[str]) -> dict[str, Any]:
        """The response of this search, which shows some of the documents; all that was done is timed."""
        shown: Documents = {self.best[document][0]: {} for document in documents}
        took_ms = round((time.perf_counter() - self.started) * 1000)
        return build_response(self.request, self.retrieved, self.ranking, shown, took_ms=took_ms)

    def ranked(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The response of both searches."""
        first = self.response(map(document_of, answer["hits"]["hits"]))
        return aspect_response(first, answer, self.topics, self.similarity)

    def doubt_of(self, answer: Mapping[str, Any]) -> Doubt:
        """The same of both searches."""
        hits = answer["hits"]
        whole = hits["total"]["value"] > 0 and not answer["_shards"].get("failed")
        doubt = doubt_of(self.request, hits["hits"], whole=whole)
        return self.doubt if doubt == "none" else doubt


def _by_topic(ranker: HybridRanker, request: SentenceRequest, space: EncoderSpace, started: float) -> _Found:
    """The first step; it looks whether the vectors are still in the space."""
    profile = request.profile
    asked, looked_up = ranker.prepare(
        request.place.sentences,
        topic_body(request.body),
        text=request.wanted.text,
        filter=request.filter,
        size=DOCUMENTS,
        from_=0,
        explain=request.user.page.get("explain"),
        profile=replace(profile, execution="client", depth=max(profile.depth, DOCUMENTS)),
    )
    asked.target.require_space(asked.field, space)
    retrieved, ranking = ranker.rank(asked, looked_up)
    doubt = doubt_of(asked, retrieved.raw_hits, whole=retrieved.dense_is_whole)
    return _Found(asked, space.similarity, started, retrieved, ranking, best_by_topic(ranking), doubt)


def _ask(client: OpenSearch, expression: str, body: Mapping[str, Any]) -> dict[str, Any]:
    with asking(expression):
        answer: dict[str, Any] = client.search(index=expression, body=as_sent(body))
    return answer
