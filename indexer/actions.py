"""Bulk actions as bytes: what one is, how it is written, and how many go into one request. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.vectors import vector_faults
from trifuse.indexer.names import LONGEST_ID

Op = Literal["index", "create", "update", "delete"]


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One document to write.

    Args:
        op: `index` replaces, `create` refuses an id that exists, `update` merges `source` into the document
            (objects are merged, lists are replaced), `delete` deletes.
        source: the document, or for an update the part to merge. A NumPy array is a vector: it is checked
            (finite, not zero) and written as a list. `Raw` is a document's JSON on one line, written as is.
        upsert: an update of a document that doesn't exist makes it from `source`.
        if_seq_no, if_primary_term: write only if the document is still in this version.
        retry_on_conflict: how often OpenSearch tries an update again that another writer got ahead of.
    """

    op: Op
    index: str
    id: str
    source: Mapping[str, Any] | msgspec.Raw | None = None
    routing: str | None = None
    upsert: bool = False
    if_seq_no: int | None = None
    if_primary_term: int | None = None
    retry_on_conflict: int | None = None


class Unsendable(ValueError):
    """An action that can't be written as JSON; the message says which field, and why."""


def _check(value: Any, path: str) -> None:
    """Find what JSON can't hold: msgspec writes NaN as null, which would lose it without a word."""
    if isinstance(value, np.ndarray):
        for reason in vector_faults(np.atleast_2d(value)).values():
            raise Unsendable(f"field {path!r} holds a vector that can't be used: {reason}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise Unsendable(f"field {path!r} is {value}, which JSON can't hold")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item, path)
    elif isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Unsendable(
                f"field {path!r} holds a lone surrogate: {error.object[error.start]!r}"
            ) from None


def _check_id(document_id: str) -> None:
    """OpenSearch refuses the whole request, not the item, where an id has no byte or over 512."""
    size = len(document_id.encode("utf-8", "surrogatepass"))
    if not 0 < size <= LONGEST_ID:
        raise Unsendable(f"its id has {size} bytes, expected 1 to {LONGEST_ID}")


def short_floats(vector: NDArray[np.floating[Any]]) -> list[Any]:
    """The vector with eight digits of its largest number: float32's own spacing there, in half the bytes.

    >>> short_floats(np.array([0.1, 0.025], np.float32))  # as they are: 0.10000000149011612, 0.02500000037...
    [0.1, 0.025]
    """
    largest = float(np.abs(vector).max(initial=0.0))
    whole_digits = math.ceil(math.log10(largest)) if largest else 0
    rounded: list[Any] = vector.astype(np.float64).round(8 - whole_digits).tolist()
    return rounded


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating):
        return short_floats(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} can't be written as JSON")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def to_ndjson(action: Action) -> bytes:
    """The one or two lines of the action, as the `_bulk` API takes them.

    Raises:
        Unsendable: a value that JSON can't hold, or that isn't finite.

    >>> to_ndjson(Action(op="delete", index="i", id="1"))
    b'{"delete":{"_index":"i","_id":"1"}}\\n'
    """
    head: dict[str, Any] = {"_index": action.index, "_id": action.id}
    for key in ("routing", "if_seq_no", "if_primary_term", "retry_on_conflict"):
        value = getattr(action, key)
        if value is not None:
            head[key] = value
    lines: list[dict[str, Any] | msgspec.Raw] = [{action.op: head}]
    if action.op == "update":
        lines.append({"doc": action.source or {}, **({"doc_as_upsert": True} if action.upsert else {})})
    elif isinstance(action.source, msgspec.Raw):
        lines.append(action.source)
    elif action.op != "delete":
        lines.append(dict(action.source or {}))
    _check_id(action.id)
    _check(action.source, "")
    try:
        return b"".join(_encoder.encode(line) + b"\n" for line in lines)
    except (TypeError, UnicodeEncodeError) as error:
        raise Unsendable(str(error)) from None


class Line(msgspec.Struct, frozen=True):
    """An action and its bytes, at its position in the stream."""

    position: int
    action: Action
    data: bytes


def chunks(lines: Iterable[Line], *, max_bytes: int, max_items: int) -> Iterator[list[Line]]:
    """Groups of at most `max_items` whose bytes sum to `max_bytes` or less; a larger line goes alone."""
    chunk: list[Line] = []
    size = 0
    for line in lines:
        if chunk and (size + len(line.data) > max_bytes or len(chunk) == max_items):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line.data)
    if chunk:
        yield chunk


def halves(chunk: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """A chunk that was too large for the server, in two."""
    middle = len(chunk) // 2
    return list(chunk[:middle]), list(chunk[middle:])
