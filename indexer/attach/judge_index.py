"""What one index allows. Pure functions: what was read in, findings out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import spaces_in_meta
from trifuse.indexer.attach.facts import IndexFacts
from trifuse.indexer.attach.plan import Finding, Request
from trifuse.indexer.behind import is_on
from trifuse.indexer.mapped import count_fields, lost_fields
from trifuse.indexer.mapping import marks_property

EXACT_LIMIT = 10_000
"""Up to so many documents under a request's filters are scored exactly; else the lexical matches are."""

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "metadata", "read")
_OF_A_COPY = ("read_only", "read_only_allow_delete", "metadata", "read")
_TOTAL_FIELDS = 1000


def judge_index(index: IndexFacts, request: Request, field: str) -> Iterator[Finding]:
    """Everything about one index but its text; the same order for each."""
    if index.closed:
        yield Finding("refused", "state", f"{index.name} is closed", f"open it: POST /{index.name}/_open")
        return
    yield from _blocks(index, request)
    yield _knn(index, request)
    yield from _source(index, request)
    yield from _names(index, request, field)
    if request.mode != "copy":  # a copy gets a higher limit
        yield from _limits(index, field)
    if str(index.mappings.get("dynamic", "true")) in ("strict", "strict_allow_templates", "false"):
        yield Finding(
            "ok",
            "dynamic",
            f"{index.name} is dynamic: {index.mappings['dynamic']}; our fields are mapped first",
        )
    if is_on((index.mappings.get("_routing") or {}).get("required")):
        yield Finding("ok", "routing", f"{index.name} requires a routing: each vector is written with it")


def _blocks(index: IndexFacts, request: Request) -> Iterator[Finding]:
    blocks: Mapping[str, Any] = index.settings.get("blocks") or {}
    stopping = _OF_A_COPY if request.mode == "copy" else _BLOCKS
    on = [name for name in stopping if is_on(blocks.get(name))]
    if on:
        body = ", ".join(f'"index.blocks.{name}": null' for name in on)
        disk = "free disk first (the flood stage sets it); then " if "read_only_allow_delete" in on else ""
        yield Finding(
            "refused",
            "blocks",
            f"{index.name} is blocked: {', '.join(on)}",
            f"{disk}take it off: PUT /{index.name}/_settings {{{body}}}",
        )
    else:
        yield Finding("ok", "blocks", f"{index.name} takes writes")


def _knn(index: IndexFacts, request: Request) -> Finding:
    if request.mode == "copy":
        return Finding("ok", "k-NN", f"it will be on in the copy of {index.name}")
    if request.mode == "in_place":
        if index.knn:
            return Finding("ok", "k-NN", f"it is on in {index.name}: the mapping gets one more field")
        return Finding(
            "refused",
            "k-NN",
            f"it is off in {index.name}, and can't be set on an index that exists",
            f"--exact (scores are computed one by one, for up to {EXACT_LIMIT:,} documents a search), or "
            "--copy (a new index with k-NN on)",
        )
    if index.knn:
        return Finding(
            "refused", "k-NN", f"it is on in {index.name}, which needs no exact scoring", "leave out --exact"
        )
    larger = index.documents > EXACT_LIMIT
    return Finding(
        "note" if larger else "ok",
        "k-NN",
        f"it is off in {index.name}: searches score every document under their filters, up to "
        f"{EXACT_LIMIT:,}, and only their lexical matches beyond that ({index.documents:,} documents now)",
        "--copy makes a new index with k-NN on" if larger else "",
    )


def _source(index: IndexFacts, request: Request) -> Iterator[Finding]:
    source: Mapping[str, Any] = index.mappings.get("_source") or {}
    if "enabled" in source and not is_on(source["enabled"]):
        yield Finding(
            "refused",
            "_source",
            f"{index.name} keeps no _source: its documents can't be read, updated or copied",
            "load them from where they came from into an index that keeps it",
        )
    elif is_on((index.settings.get("derived_source") or {}).get("enabled")):
        yield Finding(
            "refused",
            "_source",
            f"{index.name} derives _source from other fields (index.derived_source), where the marks of "
            "trifuse can't be",
            "reindex into an index that keeps _source, then attach to that",
        )
    elif not (source.get("includes") or source.get("excludes")):
        yield Finding("ok", "_source", f"{index.name} keeps it whole")
    elif request.mode != "copy":
        yield Finding(
            "refused",
            "_source",
            f"{index.name} keeps only a part of it, and each update would lose the rest for search",
            "--copy, where what isn't kept isn't searched",
        )
    else:
        lost = lost_fields(index.mappings)
        if lost:
            yield Finding(
                "refused",
                "_source",
                f"{index.name} doesn't keep {', '.join(lost[:10])}: a copy would lose what is searched there",
                "load the documents from where they came from into an index that keeps them",
            )
        else:
            yield Finding(
                "ok", "_source", f"what {index.name} doesn't keep isn't searched: nothing gets lost"
            )


def _names(index: IndexFacts, request: Request, field: str) -> Iterator[Finding]:
    ours = index.properties.get(MARKS)
    if ours is not None and not _is_marks(ours):
        yield Finding(
            "refused",
            "names",
            f"{index.name} has a field {MARKS} of its own, where trifuse keeps its marks",
            "rename that field: reindex into another index, then attach to that",
        )
    elif "." in field or field == MARKS:
        yield Finding(
            "refused", "names", f"{field} can't be the name of a vector field", "name one without dots"
        )
    elif field in index.properties and field not in spaces_in_meta(index.meta):
        yield Finding(
            "refused",
            "names",
            f"{index.name} has a field {field} already",
            "name another (--field)" if request.field else "take it out, or detach and attach anew",
        )
    elif "trifuse" in index.meta and "format" not in (index.meta["trifuse"] or ()):
        yield Finding(
            "refused",
            "names",
            f"the _meta of {index.name} has a trifuse of its own, where trifuse keeps the space of vectors",
            "give it another name there",
        )
    else:
        yield Finding("ok", "names", f"vectors go into {field}, marks into {MARKS}")


def _is_marks(mapping: Mapping[str, Any]) -> bool:
    """Whether the field is the object that holds marks, as an attachment before has left it."""
    mapped: Mapping[str, Any] = mapping.get("properties") or {}
    return set(marks_property()["properties"]) <= set(mapped) and "properties" in mapped["fields"]


def _limits(index: IndexFacts, field: str) -> Iterator[Finding]:
    settings = ((index.settings.get("mapping") or {}).get("total_fields") or {}).get("limit", _TOTAL_FIELDS)
    limit, there = int(settings), count_fields(index.properties)
    more = count_fields({field: {}, MARKS: marks_property([field])})
    if there + more > limit:
        yield Finding(
            "refused",
            "limits",
            f"{index.name} has {there} of {limit} fields, and gets {more} more",
            f'raise it: PUT /{index.name}/_settings {{"index.mapping.total_fields.limit": {there + more}}}',
        )
    else:
        yield Finding("ok", "limits", f"{index.name} has {there} of {limit} fields, and gets {more} more")
