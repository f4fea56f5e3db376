"""What OpenSearch answers: failures as errors, items of `_msearch` as answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import NotFoundError, TransportError

from trifuse.ranker.errors import BodyError, IndexMissing, SearchRejected, SearchUnavailable
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.page import key_of

_JSON = msgspec.json.Encoder(decimal_format="number")


def as_sent(body: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """A request's body as JSON: the client's own serializer takes ten times as long over a vector.

    What it knows and this doesn't (NumPy's numbers, half a surrogate pair) is left to it.

    Raises:
        BodyError: it holds a number that JSON hasn't, for which this would write `null`.

    >>> as_sent({"size": 10})
    '{"size":10}'
    """
    try:
        sent = _JSON.encode(body).decode()
    except (TypeError, ValueError):
        return body
    if "null" in sent:
        _check_finite(body)
    return sent


def _check_finite(body: Mapping[str, Any]) -> None:
    left: list[Any] = [body]
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            left += node.values()
        elif isinstance(node, list | tuple):
            left += node
        elif isinstance(node, float) and not math.isfinite(node):
            raise BodyError(f"the request holds {node}, which is no number in JSON: give a finite one")


@contextmanager
def asking(expression: str) -> Iterator[None]:
    """Turn the client's failures into the ranker's.

    Raises:
        IndexMissing: no index, alias or pattern by that name.
        SearchUnavailable: no answer, or one of 5xx or 429.
        SearchRejected: any other refusal.
    """
    try:
        yield
    except NotFoundError as error:
        raise IndexMissing(
            f"no index or alias {expression!r}: load into it first, or check its name"
        ) from error
    except NoConnection as error:
        raise SearchUnavailable(
            f"OpenSearch didn't answer: {error.error}; is it up (trifuse status)?"
        ) from error
    except TransportError as error:
        status = error.status_code if isinstance(error.status_code, int) else 500
        refusal = _error(error.info)
        # Too many terms are the query's fault, whatever the status: a `hybrid` query's is 500.
        if (status >= 500 or status == 429) and not too_many_terms(refusal):
            says = isinstance(error.info, Mapping) and error.info.get("error")
            reason = reason_of(refusal) if says else error.error
            raise SearchUnavailable(
                f"OpenSearch answered {error.status_code}: {reason}; try again later"
            ) from error
        raise SearchRejected(
            f"OpenSearch refused the request: {reason_of(refusal)}", status=status, error=refusal
        ) from error


def _error(info: Any) -> Mapping[str, Any]:
    found = info.get("error") if isinstance(info, Mapping) else info
    return found if isinstance(found, Mapping) else {"reason": str(found)}


@dataclass(frozen=True)
class Answer:
    """One leg's item of `_msearch`.

    Args:
        status: HTTP status.
        error: OpenSearch's `error` object where the leg failed.
        content: the response where it didn't.
    """

    status: int
    error: Mapping[str, Any] | None
    content: Mapping[str, Any]

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Answer:
        """Read an item of `responses`."""
        error = item.get("error")
        if error is None:
            return cls(int(item.get("status", 200)), None, item)
        return cls(
            int(item.get("status", 500)), error if isinstance(error, Mapping) else {"reason": error}, {}
        )

    @cached_property
    def hits(self) -> list[Mapping[str, Any]]:
        """The hits, best first."""
        return list((self.content.get("hits") or {}).get("hits") or [])

    @cached_property
    def ranked(self) -> LegHits:
        """Their documents by score."""
        return LegHits.of((key_of(hit), hit.get("_score")) for hit in self.hits)

    @property
    def took_ms(self) -> int:
        """Milliseconds that the server took."""
        return int(self.content.get("took", 0))

    @property
    def partial(self) -> str | None:
        """What was missing where some shards failed or time ran out."""
        shards = self.content.get("_shards") or {}
        if shards.get("failed"):
            reasons = [reason_of(each.get("reason") or {}) for each in shards.get("failures") or [{}]]
            return f"{shards['failed']} of {shards['total']} shards failed: {reasons[0]}"
        return "time ran out: hits may be missing" if self.content.get("timed_out") else None


def reason_of(error: Mapping[str, Any]) -> str:
    """The first cause of an error, as a sentence."""
    causes = error.get("root_cause") or [error]
    cause = causes[0]
    if cause.get("type") == "index_closed_exception":
        index = cause.get("index", "INDEX")
        return f"the index {index} is closed: open it (POST /{index}/_open)"
    nested = cause.get("caused_by") or error.get("caused_by") or {}
    parts = [cause.get("reason"), nested.get("reason")]
    return ": ".join(dict.fromkeys(str(each) for each in parts if each)) or str(error.get("type", "unknown"))


def too_many_terms(error: Mapping[str, Any]) -> bool:
    """Whether a query had more clauses than the server allows (`indices.query.bool.max_clause_count`)."""
    if "too_many" in str(error.get("type")) and "clauses" in str(error.get("type")):
        return True
    below = [error.get("caused_by"), *(error.get("root_cause") or [])]
    below += [each.get("reason") for each in error.get("failed_shards") or []]
    return any(too_many_terms(each) for each in below if isinstance(each, Mapping))
