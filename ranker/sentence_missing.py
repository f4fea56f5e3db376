"""Why a search among sentences found nothing: asked only where it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.errors import BodyError, DocumentMissing, IndexMissing
from trifuse.ranker.sentence_filters import of_document
from trifuse.ranker.server import as_sent, asking
from trifuse.ranker.types import Clause

_SECTIONS = 100


def check_document(
    client: OpenSearch, sentences: str, parents: str, field: str | None, document: str, routing: str | None
) -> None:
    """Tell a document that has nothing to search from one none of whose sentences matches.

    Args:
        sentences, parents: the expressions of the sentences and of what they are of.
        field: of the vectors that were searched; None where none were.

    Raises:
        DocumentMissing: there is no such document, or it has no sentences, or they have no vectors yet.
    """
    own = of_document(document, routing)
    named = repr(document) if routing is None else f"{document!r} of the routing {routing!r}"
    if not _count(client, sentences, own):
        if _exists(client, parents, document, routing):
            raise DocumentMissing(
                f"the document {named} of {parents!r} has no sentences: it has no text in the fields that "
                f"are split, or was written since the last `trifuse sync {parents}`, or loaded without them "
                f"(`trifuse attach {parents} --sentences` gives them to all)"
            )
        raise DocumentMissing(
            f"{parents!r} has no document {named}: check the id, and its routing if it has one"
        )
    if field is not None and not _count(client, sentences, [*own, {"exists": {"field": field}}]):
        raise DocumentMissing(
            f"none of the sentences of the document {named} has a vector yet: `trifuse sync {parents}` "
            "embeds them; until then search by words (--profile lexical=1)"
        )


def check_sections(client: OpenSearch, sentences: str, sections: Sequence[str]) -> None:
    """Tell sections that there are not from those in which nothing matches.

    Raises:
        BodyError: none of them is there; it names those that are.
    """
    body = {"size": 0, "aggs": {"sections": {"terms": {"field": "section", "size": _SECTIONS}}}}
    buckets = _search(client, sentences, body)["aggregations"]["sections"]["buckets"]
    there = sorted(bucket["key"] for bucket in buckets)
    if there and len(there) < _SECTIONS and not any(_is_in(name, sections) for name in there):
        raise BodyError(
            f"no sentence of {sentences!r} is in the section {', '.join(map(repr, sections))}: sections are "
            f"{', '.join(there)}"
        )


def _is_in(name: str, sections: Sequence[str]) -> bool:
    return any(name == section or name.startswith(f"{section}.") for section in sections)


def _count(client: OpenSearch, expression: str, clauses: Sequence[Clause]) -> int:
    with asking(expression):
        answer = client.count(index=expression, body={"query": {"bool": {"filter": list(clauses)}}})
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
