"""Documents that are like one, or like parts of one that needn't exist: those of the nearest vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import values_at
from trifuse.encoder.types import Encoder
from trifuse.ranker.body import check_filter
from trifuse.ranker.clicks.past_queries import similarity_of
from trifuse.ranker.encoders import BySpace, Encoders
from trifuse.ranker.errors import BodyError, DocumentMissing, SearchUnavailable
from trifuse.ranker.moving import TRIES
from trifuse.ranker.nesting import check_nesting
from trifuse.ranker.server import as_sent, asking
from trifuse.ranker.similar_parts import (
    Parts,
    document_body,
    field_by,
    nearest_body,
    other_than,
    text_of,
)
from trifuse.ranker.target import Target, index_expression
from trifuse.ranker.targets import Targets
from trifuse.ranker.types import Clause
from trifuse.ranker.values import MAX_HITS


def similar(
    client: OpenSearch,
    encoder: Encoder | Sequence[Encoder] | BySpace | None,
    index: str | Sequence[str],
    *,
    doc_id: str | None = None,
    parts: Parts | None = None,
    by: str | None = None,
    filter: Mapping[str, Any] | None = None,
    size: int = 10,
) -> dict[str, Any]:
    """The documents whose vectors are nearest to a document's, or to that of some parts.

        similar(client, None, "trials", doc_id="NCT01234567")
        similar(client, encoder, "trials", parts={"condition": "asthma", "intervention": "budesonide"})

    Args:
        encoder: for parts; a document's own vector is read from the index. As in `HybridRanker`.
        index: a name, an alias, a pattern, or a list of them.
        doc_id: of a document in it, which is left out of what is found.
        parts: part to text, or to several: for an encoder of parts those that it takes, or else any, which
            are joined as the index's template joins its fields. They are encoded as documents are.
        by: a part: compare by its own vectors (`--part-vectors`), not by those of the whole documents.
        filter: one query that every hit must match; the filter of an alias holds too.
        size: how many documents, 10,000 at most.

    Returns:
        a response of OpenSearch's shape: hits with `_score` as k-NN scores, and `trifuse.similarity` (cosine,
        or inner product), best first, equal ones by id; `hits.total` is how many these are, `gte` where there
        may be more; `trifuse` says by what they were compared.

    Raises:
        BodyError: what is asked for contradicts itself, or there are no such vectors.
        DocumentMissing: there is no such document, or it has no vector.
        IndexMissing: no index, alias or pattern by that name.
        InvalidText: the parts have no text that can be encoded.
        SpaceMismatch: the vectors are in another space than the encoder's, or than another index's.
        SearchRejected: OpenSearch refused the filter.
        SearchUnavailable: OpenSearch didn't answer.
    """
    wanted = _Wanted(doc_id, parts, by, filter, size)
    expression, targets, encoders = index_expression(index), Targets(client), Encoders(encoder)
    for _ in range(TRIES):
        target = targets.read(expression, {}, fresh=True)
        try:
            return _found(client, encoders, target, wanted)
        except _Moved:
            continue
    raise SearchUnavailable(
        f"what {expression!r} stands for changed during each of {TRIES} tries: try again later"
    )


@dataclass(frozen=True)
class _Wanted:
    """What is asked for; the arguments of `similar`.

    Raises:
        BodyError: they contradict each other.
    """

    doc_id: str | None
    parts: Parts | None
    by: str | None
    filter: Mapping[str, Any] | None
    size: int

    def __post_init__(self) -> None:
        if (self.doc_id is None) == (self.parts is None):
            raise BodyError("give either the id of a document or the parts of one")
        if self.doc_id is not None and not _may_be_id(self.doc_id):
            raise BodyError(f"{self.doc_id!r} can be no document's id: give one that isn't empty, as text")
        if not isinstance(self.size, int) or isinstance(self.size, bool) or not 1 <= self.size <= MAX_HITS:
            raise BodyError(f"size is {self.size!r}: give a whole number from 1 to {MAX_HITS}")
        check_filter(self.filter)
        if self.filter is not None:
            check_nesting("filter", self.filter)


def _may_be_id(value: object) -> bool:
    """Whether OpenSearch takes a search for it: it has a byte, and no lone surrogate."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value != ""


class _Moved(Exception):
    """An alias was moved between two requests: what was found is of indices whose spaces weren't read."""


def _found(client: OpenSearch, encoders: Encoders, target: Target, wanted: _Wanted) -> dict[str, Any]:
    field = field_by(target, wanted.by)
    like: dict[str, Any]
    given = dict(wanted.filter) if wanted.filter is not None else None
    filters: list[Clause | None] = [given, target.alias_filter]
    if wanted.doc_id is not None:
        index, vector = _vector_of(client, target, field, wanted.doc_id)
        like = {"_index": index, "_id": wanted.doc_id}
        filters.append(other_than(wanted.doc_id))
    else:
        parts = wanted.parts or {}
        vector = _encoded(encoders, target, field, parts)
        like = {"parts": dict(parts)}
    body = nearest_body(target, field, vector, filters, size=wanted.size)
    answer = _search(client, target, body)
    about = {
        "like": like,
        "field": field,
        "by": wanted.by,
        "exact": target.is_exact(field),
        "lacking": target.lacks(field),
        "filter": {"given": given, "alias": target.alias_filter},
    }
    return _response(answer, _space(target, field), about, size=wanted.size)


def _vector_of(client: OpenSearch, target: Target, field: str, id: str) -> tuple[str, list[float]]:
    """The index of a document, and its vector."""
    hits = _search(client, target, document_body(id, field))["hits"]["hits"]
    if not hits:
        raise DocumentMissing(f"{target.expression!r} has no document {id!r}: check the id")
    if len(hits) > 1:
        indices = ", ".join(sorted({hit["_index"] for hit in hits}))
        raise BodyError(f"several documents have the id {id!r} ({indices}): name an index that has one of it")
    index = hits[0]["_index"]
    vector = list(values_at(hits[0].get("_source") or {}, field.split(".")))
    if not vector:
        raise DocumentMissing(
            f"the document {id!r} has no vector in the field {field!r} of {index!r}: it has no text for it, "
            f"or isn't embedded yet; `trifuse sync {index}` embeds what is still to be, and says what failed"
        )
    target.require_space(field, target.spaces[index][field].encoder)
    return index, vector


def _encoded(encoders: Encoders, target: Target, field: str, parts: Parts) -> list[float]:
    space = _space(target, field)
    text = text_of(parts, space)
    encoder = encoders.of(space.encoder)
    if encoder is None:
        raise BodyError(f"parts need the encoder of the space {space.encoder.id!r}: there is none")
    target.require_space(field, encoder.space)
    vector: list[float] = encoder.encode_documents([text])[0].tolist()
    return vector


def _space(target: Target, field: str) -> Space:
    space = target.space_of(field)
    if space is None:
        raise BodyError(f"{target.expression!r} has no vectors in the field {field!r}")
    return space


def _search(client: OpenSearch, target: Target, body: Mapping[str, Any]) -> dict[str, Any]:
    with asking(target.expression):
        answer: dict[str, Any] = client.search(index=target.expression, body=as_sent(body))
    if any(hit["_index"] not in target.indices for hit in answer["hits"]["hits"]):
        raise _Moved
    return answer


def _response(
    answer: Mapping[str, Any], space: Space, about: Mapping[str, Any], *, size: int
) -> dict[str, Any]:
    similarity = space.encoder.similarity
    hits = [
        {**hit, "trifuse": {"similarity": similarity_of(hit["_score"], similarity)}}
        for hit in sorted(answer["hits"]["hits"], key=lambda hit: (-hit["_score"], hit["_id"]))
    ]
    whole = len(hits) < size and not answer["_shards"].get("failed")
    total = {"value": len(hits), "relation": "eq" if whole else "gte"}
    return {
        "took": answer["took"],
        "timed_out": answer["timed_out"],
        "_shards": answer["_shards"],
        "hits": {"total": total, "max_score": hits[0]["_score"] if hits else None, "hits": hits},
        "trifuse": dict(about),
    }
