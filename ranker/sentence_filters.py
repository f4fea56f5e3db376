"""What sentences are held to: a document, sections, and the filter of an alias of their parents. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trifuse.ranker.errors import BodyError
from trifuse.ranker.queries import fields_of, items, walk
from trifuse.ranker.types import Clause

SENTENCE_FIELDS = frozenset(
    {"parent_id", "parent_routing", "section", "item", "ordinal", "start", "end", "text"}
)
"""What a sentence says of itself; any other field is repeated from its document."""

_COMPOUND = frozenset({"bool", "constant_score", "match_all"})


def of_document(document: str, routing: str | None = None) -> list[Clause]:
    """The sentences of one document; of all that have the id, where no routing is given."""
    clauses: list[Clause] = [{"term": {"parent_id": document}}]
    if routing is not None:
        clauses.append({"term": {"parent_routing": routing}})
    return clauses


def of_sections(sections: Sequence[str]) -> list[Clause]:
    """The sentences of any of these sections, and of those below them: `eligibility` of both its sides.

    >>> of_sections(["eligibility"])[0]["bool"]["should"]
    [{'terms': {'section': ['eligibility']}}, {'prefix': {'section': 'eligibility.'}}]
    """
    if not sections:
        return []
    below: list[Clause] = [{"prefix": {"section": f"{section}."}} for section in sections]
    return [{"bool": {"should": [{"terms": {"section": list(sections)}}, *below]}}]


def repeated(filter: Clause, known: Sequence[frozenset[str]], *, alias: str) -> Clause:
    """The filter of an alias, where it says of a sentence what it says of its document.

    Args:
        known: the fields of each index of sentences.
        alias: as it was searched by.

    Raises:
        BodyError: it doesn't: a field isn't repeated, or a query of it may read something else.
    """
    for field in _fields(filter):
        if field is None or field in SENTENCE_FIELDS or not all(field in fields for fields in known):
            what = "has a query that only its documents can answer" if field is None else f"is on {field!r}"
            raise BodyError(
                f"{alias!r} is an alias whose filter {what}, which sentences don't repeat: have them "
                "repeat it (`trifuse attach INDEX --sentences --filters FIELD`), or search their own index"
            )
    return dict(filter)


def _fields(query: Any) -> Iterator[str | None]:
    """The fields that a query reads; None for a part that isn't known to read one."""
    steps = list(walk(query))
    if not steps:
        yield None
    for step in steps:
        fields = fields_of(step)
        if fields is not None:
            yield from fields
        elif step.kind not in _COMPOUND:
            yield None


def with_filters(
    body: Mapping[str, Any], filter: Mapping[str, Any] | None, ours: Sequence[Clause]
) -> tuple[dict[str, Any], Clause | None]:
    """A body and the filter given beside it, with our clauses in one of them.

    They stand in the body's query where it has one: a filter beside the body would free the other legs of
    what the query requires and nobody can classify.
    """
    query = body.get("query")
    if not ours:
        return dict(body), None if filter is None else dict(filter)
    if isinstance(query, Mapping) and query:
        body = {**body, "query": {"bool": {"must": [query], "filter": list(ours)}}}
        return dict(body), None if filter is None else dict(filter)
    return dict(body), {"bool": {"filter": [*items(filter), *ours]}}
