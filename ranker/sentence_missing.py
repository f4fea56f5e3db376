"""Why a search among sentences found nothing: asked only where it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.errors import BodyError, DocumentMissing, IndexMissing
from trifuse.ranker.queries import items
from trifuse.ranker.sentence_filters import of_document
from trifuse.ranker.sentence_place import Place
from trifuse.ranker.server import as_sent, asking
from trifuse.ranker.types import Clause

_SECTIONS = 100


def check_document(client: OpenSearch, place: Place, document: str, routing: str | None) -> None:
    """Tell a document that has nothing to search from one none of whose sentences matches.

    Args:
        place: where its sentences should be.

    Raises:
        DocumentMissing: there is no such document, or it has no sentences.
    """
    parents, own = place.parents, [*of_document(document, routing), *items(place.filter)]
    named = _named(document, routing)
    if not _count(client, place, own):
        if _exists(client, parents, document, routing):
            raise DocumentMissing(
                f"the document {named} of {parents!r} has no sentences: it has no text in the fields that "
                f"are split, or was written since the last `trifuse sync {parents}`, or loaded without them "
                f"(`trifuse attach {parents} --sentences` gives them to all)"
            )
        raise DocumentMissing(
            f"{parents!r} has no document {named}: check the id, and its routing if it has one"
        )


def check_vectors(
    client: OpenSearch, place: Place, field: str, document: str | None, routing: str | None
) -> None:
    """Tell sentences that have no vectors to search yet from those none of which matches.

    Args:
        field: of the vectors.
        document: the only one that was looked in; None: all were.

    Raises:
        DocumentMissing: none of the sentences has a vector.
    """
    own = [] if document is None else of_document(document, routing)
    clauses = [*own, *items(place.filter)]
    embedded: Clause = {"exists": {"field": field}}
    if not _count(client, place, [*clauses, embedded]) and _count(client, place, clauses):
        whose = repr(place.parents) if document is None else f"the document {_named(document, routing)}"
        raise DocumentMissing(
            f"none of the sentences of {whose} has a vector yet: `trifuse sync {place.parents}` embeds them; "
            "until then search by words (--sentences --profile lexical=1)"
        )


def check_sections(client: OpenSearch, place: Place, sections: Sequence[str]) -> None:
    """Tell sections that there are not from those in which nothing matches.

    Raises:
        BodyError: none of them is there; it names those that are.
    """
    counted = {"sections": {"terms": {"field": "section", "size": _SECTIONS}}}
    body = {"size": 0, "query": {"bool": {"filter": items(place.filter)}}, "aggs": counted}
    buckets = _search(client, place.sentences, body)["aggregations"]["sections"]["buckets"]
    there = sorted(bucket["key"] for bucket in buckets)
    if there and len(there) < _SECTIONS and not any(_is_in(name, sections) for name in there):
        raise BodyError(
            f"no sentence of {place.sentences!r} is in the section {', '.join(map(repr, sections))}: "
            f"sections are {', '.join(there)}"
        )


def _named(document: str, routing: str | None) -> str:
    return repr(document) if routing is None else f"{document!r} of the routing {routing!r}"


def _is_in(name: str, sections: Sequence[str]) -> bool:
    return any(name == section or name.startswith(f"{section}.") for section in sections)


def _count(client: OpenSearch, place: Place, clauses: Sequence[Clause]) -> int:
    with asking(place.sentences):
        answer = client.count(index=place.sentences, body={"query": {"bool": {"filter": list(clauses)}}})
    return int(answer["count"])


def _exists(client: OpenSearch, parents: str, document: str, routing: str | None) -> bool:
    """Whether there is the document; not, where its index is gone."""
    body = {
        "size": 10,
        "query": {"ids": {"values": [document]}},
        "_source": False,
        "search_pipeline": "_none",
    }
    try:
        hits = _search(client, parents, body)["hits"]["hits"]
    except IndexMissing:
        return False
    return any(routing in (None, hit.get("_routing")) for hit in hits)


def _search(client: OpenSearch, expression: str, body: Mapping[str, Any]) -> dict[str, Any]:
    with asking(expression):
        answer: dict[str, Any] = client.search(index=expression, body=as_sent(body))
    return answer
