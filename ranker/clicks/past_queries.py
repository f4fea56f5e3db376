"""Past queries: their normal form, their id, and the search for the ones that resemble a new query.

Pure functions only. A past query is one document of `trifuse-queries-NAME`. Its `_id` is made from its normal
form, and is also the last part of the Redis key that holds what was clicked for it (`trifuse.ranker.keys`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import msgspec

from trifuse.encoder.marks import VECTOR_FIELD, space_path
from trifuse.encoder.spaces import EncoderSpace, Similarity, Space, spaces_in_meta
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Vectors

QUERY_TEMPLATE = TextTemplate(("text",), role="query")
"""How a past query is embedded: as a query, so that it stands where a new query's vector stands."""

MAX_QUERY_CHARS = 1000
"""A longer query is no search that someone repeats: it is neither kept nor looked up."""

_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TRAILING = " .?!,;:"


def normalize_query(text: str) -> str:
    """The normal form by which two searches are the same query; "" where nothing is left of it.

    NFKC and case folding (Unicode's NFKC_Casefold), runs of white space as one space, no control characters,
    no punctuation at the end.

    >>> normalize_query("  Aspirin\\tfor STROKE? ")
    'aspirin for stroke'
    """
    for _ in range(2):  # folding can undo a composition, and composing can bring back something to fold
        text = unicodedata.normalize("NFKC", _UNREADABLE.sub(" ", text)).casefold()
    text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split()).rstrip(_TRAILING)


def query_id(normalized: str) -> str:
    """The id of a past query, from its normal form: 24 hex digits of BLAKE2b."""
    return hashlib.blake2b(normalized.encode(), digest_size=12).hexdigest()


def queries_index(index: str) -> str:
    """The name of the index that holds an index's past queries."""
    return f"trifuse-queries-{index}"


class _Hit(msgspec.Struct):
    fields: Mapping[str, Annotated[list[str], msgspec.Meta(min_length=1)]]
    score: float = msgspec.field(name="_score")


class _Hits(msgspec.Struct):
    hits: list[_Hit]


class _Answer(msgspec.Struct):
    hits: _Hits


_ANSWER = msgspec.json.Decoder(_Answer)


class FoundQueries(NamedTuple):
    """Past queries that were found near a vector.

    Args:
        texts: normal form and similarity of each, nearest first.
        complete: whether no place among the nearest was taken by one of another space.
    """

    texts: list[tuple[str, float]]
    complete: bool = True


def query_space(encoder: EncoderSpace) -> Space:
    """The space that past queries' vectors are in, for an index embedded by `encoder`."""
    return Space(encoder, QUERY_TEMPLATE)


@lru_cache(16)
def _space_id(encoder: EncoderSpace) -> str:
    return query_space(encoder).id


def query_field(meta: Mapping[str, Any] | None, space: EncoderSpace) -> str:
    """The field of past queries' vectors in a space, by the `_meta` of their index.

    There are two while an index is embedded anew. Where none is of the space it is the first: vectors in it
    are then told by their marks, and not compared.
    """
    wanted = _space_id(space)
    found = (field for field, known in spaces_in_meta(meta).items() if known.id == wanted)
    return next(found, VECTOR_FIELD)


def similar_queries_body(
    vector: Vectors, space: EncoderSpace, m: int, *, filtered: bool = False, field: str = VECTOR_FIELD
) -> dict[str, Any]:
    """The search for the m past queries nearest to a query's vector.

    It reads no stored field, not even `_id`: normal forms come from a column, and ids are made from them.

    Args:
        vector: (dim,) float32, of the encoder that `space` describes.
        filtered: of that space alone. Else the answer says which are of another: there are such only for as
            long as an index is embedded anew, and the filter is a quarter of the search's time.
        field: of the vectors in that space; see `query_field`.
    """
    path = space_path(field)
    knn: dict[str, Any] = {"vector": vector.tolist(), "k": m}
    if filtered:
        knn["filter"] = {"term": {path: _space_id(space)}}
    return {
        "size": m,
        "query": {"knn": {field: knn}},
        "stored_fields": "_none_",
        "docvalue_fields": ["normalized", path],
        "track_total_hits": False,
    }


def read_similar_queries(
    answer: bytes | str | Mapping[str, Any], space: EncoderSpace, *, field: str = VECTOR_FIELD
) -> FoundQueries:
    """The past queries of a space that were found.

    Raises:
        msgspec.DecodeError: the answer isn't that of such a search.
    """
    read = msgspec.convert(answer, _Answer) if isinstance(answer, Mapping) else _ANSWER.decode(answer)
    hits, wanted, path = read.hits.hits, [_space_id(space)], space_path(field)
    if any("normalized" not in hit.fields for hit in hits):
        raise msgspec.ValidationError("a past query has no normal form")
    texts = [
        (hit.fields["normalized"][0], similarity_of(hit.score, space.similarity))
        for hit in hits
        if hit.fields.get(path) == wanted
    ]
    return FoundQueries(texts, complete=len(texts) == len(hits))


def similarity_of(score: float, similarity: Similarity) -> float:
    """The cosine or inner product that an engine's k-NN score was made from.

    OpenSearch's Lucene engine scores `cosinesimil` as (1 + cos) / 2, and `innerproduct` as ip + 1 where
    that is at least 1, else 1 / (1 - ip).
    https://docs.opensearch.org/latest/field-types/supported-field-types/knn-spaces/

    >>> similarity_of(0.75, "cosine"), similarity_of(0.5, "dot")
    (0.5, -1.0)
    """
    if similarity == "cosine":
        return 2.0 * score - 1.0
    return score - 1.0 if score >= 1.0 else 1.0 - 1.0 / score
