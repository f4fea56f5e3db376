"""The requests of one search: legs, clicked documents, and the page. The ranker's I/O with OpenSearch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.checks import checked
from trifuse.ranker.errors import RankerError, SearchRejected
from trifuse.ranker.lookups import LookUp
from trifuse.ranker.page import key_of
from trifuse.ranker.request import Request
from trifuse.ranker.server import Answer, as_sent, asking, too_many_terms
from trifuse.ranker.types import Key
from trifuse.ranker.values import MAX_HITS

Documents = dict[Key, Mapping[str, Any]]
"""Documents of a page, as the server gave them."""


def ask(
    client: OpenSearch,
    request: Request,
    bodies: Collection[Mapping[str, Any]],
    params: Mapping[str, Any] | None = None,
) -> list[Answer]:
    """The answers to some searches, in one request.

    Raises:
        IndexMissing, SearchRejected, SearchUnavailable: none of them was answered.
    """
    return [Answer.of(item) for item in _msearch(client, request, _lines(request, bodies), params or {})]


def ask_legs(client: OpenSearch, request: Request, lookup: LookUp | None = None) -> dict[str, Answer]:
    """Leg to answer, for the legs that search.

    Args:
        lookup: in the click log, whose search for past queries goes along.

    Raises:
        IndexMissing, SearchRejected, SearchUnavailable: none of them was answered.
    """
    bodies = request.bodies()
    lines = _lines(request, bodies.values())
    along = lookup.along if lookup is not None and lines else None
    items = _msearch(client, request, [*lines, *(along or ())], request.url.naming)
    if lookup is not None and along is not None:
        lookup.answered(items.pop())
    return dict(zip(bodies, map(Answer.of, items), strict=True))


def _lines(request: Request, bodies: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [line for body in bodies for line in (request.header, body)]


def _msearch(
    client: OpenSearch, request: Request, lines: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    if not lines:
        return []
    with asking(request.target.expression):
        answer = client.msearch(body=[as_sent(line) for line in lines], params=dict(params))
    found: list[Mapping[str, Any]] = answer["responses"]
    return found


def check(
    client: OpenSearch, request: Request, ids: Sequence[str], page: Sequence[Key], *, plainly: bool = False
) -> tuple[Answer, Documents | None]:
    """Which of the documents are there and match the filters; and, in the same request, a page.

    Args:
        page: what the page is going to be if they all are; may be empty.
        plainly: documents may have routings of their own.

    Returns:
        an answer whose error says what went wrong, if anything did; and the page's documents, None where it
        can't be fetched in this way.
    """
    bodies = [request.clicks_body(ids)] if plainly else request.check_bodies(ids)
    pages = [request.page_body(page)] if page else []
    try:
        answers = ask(client, request, [*bodies, *pages])
        documents = None
        if page and answers[-1].error is None:
            documents = {key_of(hit): hit for hit in answers[-1].hits}
        answer = answers[0] if plainly else checked(answers[: len(bodies)], ids)
        if answer is None:
            answer, _ = check(client, request, ids, (), plainly=True)
    except RankerError as error:
        return Answer(503, {"reason": str(error)}, {}), None
    return answer, documents


def fetch(client: OpenSearch, request: Request, keys: Sequence[Key], *, by_query: bool = True) -> Documents:
    """The documents of a page; one that was deleted meanwhile is missing.

    Args:
        by_query: whether the user's query can be used, to highlight and to explain.

    Raises:
        IndexMissing, SearchRejected, SearchUnavailable: they weren't fetched.
    """
    size = min(len(keys) + 1, MAX_HITS)  # one more shows whether documents share an id
    while keys:
        body = request.page_body(keys, by_query=by_query, size=size)
        try:
            with asking(request.target.expression):
                answer = client.search(
                    index=request.target.expression, body=body, params=dict(request.url.header)
                )
        except SearchRejected as error:
            # The lexical leg would have said so, had it run.
            if not by_query or not too_many_terms(error.error):
                raise
            by_query = False
            continue
        documents = {key_of(hit): hit for hit in answer["hits"]["hits"]}
        # Documents with the same ids and other routings may have taken the places of those asked for.
        if len(documents) < size or documents.keys() >= set(keys) or size == MAX_HITS:
            return documents
        size = min(10 * size, MAX_HITS)
    return {}
