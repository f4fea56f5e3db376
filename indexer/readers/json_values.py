"""A JSON value to the trials that it holds, whichever API or file it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trifuse.indexer.readers.flat import is_flat, raw_of_flat, unknown_names
from trifuse.indexer.readers.full_study import raw_of_full_study
from trifuse.indexer.readers.records import Place, Record, Rejection
from trifuse.indexer.readers.schema import FULL_STUDY, STUDY, unknown_modules
from trifuse.indexer.readers.study import dig, raw_of_study
from trifuse.indexer.readers.values import every, nct_ids


def records_of(value: Any, place: Place) -> Iterator[Record | Rejection]:
    """The trials of a study, a flat record, a page or an envelope; anything else is rejected by name."""
    if isinstance(value, list):
        yield from _each(value, place)
    elif not isinstance(value, Mapping):
        yield place.reject(f"no trial: a JSON {_kind(value)} stands where a study was expected")
    elif not STUDY.keys().isdisjoint(value):
        yield from _study(value, place)
    elif not FULL_STUDY.keys().isdisjoint(value):
        unknown = unknown_modules(value, FULL_STUDY)
        yield from place.records(raw_of_full_study(value), unknown=unknown, wraps="never")
    elif is_flat(value):
        yield from place.records(raw_of_flat(value), unknown=unknown_names(value))
    else:
        yield from _envelope(value, place)


def _study(value: Mapping[str, Any], place: Place) -> Iterator[Record | Rejection]:
    if not dig(value, "protocolSection", "identificationModule", "nctId"):
        holds = ", ".join(_parts(value)) or "nothing"
        yield place.reject(f"a fragment of a study without an NCT id: it holds {holds}")
    else:
        yield from place.records(raw_of_study(value), unknown=unknown_modules(value, STUDY))


def _parts(study: Mapping[str, Any]) -> list[str]:
    """The modules, or sections without any, of a fragment."""
    return [
        name
        for key, value in study.items()
        for name in (
            [f"{key}.{module}" for module in value] if isinstance(value, Mapping) and value else [key]
        )
    ][:5]


def _envelope(value: Mapping[str, Any], place: Place) -> Iterator[Record | Rejection]:
    if "studies" in value:
        yield from _each(every(value["studies"]), place)
    elif "FullStudiesResponse" in value:
        yield from _each(every(dig(value, "FullStudiesResponse", "FullStudies")), place)
    elif isinstance(value.get("FullStudy"), Mapping):
        yield from records_of(value["FullStudy"], place)
    elif isinstance(value.get("Study"), Mapping):
        yield from records_of(value["Study"], place)
    elif "StudyFieldsResponse" in value:
        yield from _fields(value["StudyFieldsResponse"], place)
    elif "StudyStatistics" in value:
        yield place.reject("StudyStatistics: statistics about the registry's fields, no study")
    else:
        keys = ", ".join(map(repr, list(value)[:5])) or "none"
        yield place.reject(
            f"no trial: an object with the keys {keys}; expected a study or a record with nct_id"
        )


def _fields(response: Any, place: Place) -> Iterator[Rejection]:
    """StudyFieldsResponse: a few fields of each study, too little for a record: each is rejected."""
    names = ", ".join(str(name) for name in every(dig(response, "FieldList"))[:5])
    reason = f"StudyFieldsResponse: only the fields {names} of a study, not its record"
    rows = every(dig(response, "StudyFields"))
    for at, row in _placed(rows, place):
        ids = nct_ids(dig(row, "NCTId"))
        yield at.reject(reason, ids[0] if ids else None)
    if not rows:
        yield place.reject("StudyFieldsResponse: it holds no study")


def _each(items: list[Any], place: Place) -> Iterator[Record | Rejection]:
    for at, item in _placed(items, place):
        yield from records_of(item, at)


def _placed(items: list[Any], place: Place) -> Iterator[tuple[Place, Any]]:
    """Items with their positions; those of one line of NDJSON stand on that line."""
    for position, item in enumerate(items, 1):
        yield Place(place.source, place.line or position), item


def _kind(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
