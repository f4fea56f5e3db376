"""Attach to an index as planned: in one request the mapping and `_meta`, all indexes or none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError

from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import Space, meta_with_space, spaces_in_meta
from trifuse.indexer.attach.plan import AttachPlan, PlannedIndex
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import AttachRefused
from trifuse.indexer.mapping import marks_property, vector_property
from trifuse.indexer.state import delete_state, put_state

KIND = "attach"
_TRIES = 5


def apply_attach(client: OpenSearch, plan: AttachPlan) -> list[EmbeddedField]:
    """Put the vector field and its space into the mapping of each index that lacks them.

    Returns:
        The vector fields, of all indexes of the plan.

    Raises:
        AttachRefused: the plan is refused, is one of a copy, or the server refused it; then no index's
            `_meta` names the field.
    """
    if plan.refused or (plan.mode == "copy" and not plan.attached):
        said = "; ".join(item.text for item in plan.findings if item.level == "refused")
        raise AttachRefused(
            f"can't attach to {plan.name!r} like this: {said or 'the plan is one of a copy'}; see what "
            "can be done with `trifuse attach --dry-run`"
        )
    done: list[PlannedIndex] = []
    for index in plan.indexes:
        if index.attached:
            continue
        try:
            _attach(client, index, plan)
        except (TransportError, AttachRefused) as error:
            for undone in [*done, index]:
                remove_ours(client, undone.index)
                delete_state(client, KIND, undone.uuid)
            reason = error.info if isinstance(error, TransportError) else error
            raise AttachRefused(
                f"the index {index.index!r} took no vector field: {reason}; remedy that, then attach again "
                "(no index is attached to now)"
            ) from error
        done.append(index)
    return [
        EmbeddedField(index.index, index.uuid, index.shards, plan.field, plan.space) for index in plan.indexes
    ]


def _attach(client: OpenSearch, index: PlannedIndex, plan: AttachPlan) -> None:
    """Keep `_meta` as it was, merge it and the mapping, and check what came of it.

    Put-mapping replaces `_meta` whole: where another writer put something there between the reading and the
    writing, what is read back differs from both, and it is merged anew.
    """
    before = read_meta(client, index.index)
    kept = {
        "meta": before,
        "field": plan.field,
        "mode": plan.mode,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    put_state(client, KIND, index.uuid, kept, index=index.index)
    for _ in range(_TRIES):
        merged = meta_with_space(read_meta(client, index.index), plan.field, plan.space)
        body = {**_addition(plan.field, plan.space, exact=plan.mode == "exact"), "_meta": merged}
        client.indices.put_mapping(index=index.index, body=body)
        if _has(client, index.index, plan.field, plan.space):
            return
    raise AttachRefused(
        f"the mapping's _meta of {index.index!r} lost the vector field {plan.field!r} {_TRIES} times: "
        "another writer replaces it; have that one merge instead"
    )


def _has(client: OpenSearch, index: str, field: str, space: Space) -> bool:
    found = spaces_in_meta(read_meta(client, index)).get(field)
    return found is not None and found.id == space.id


def _addition(field: str, space: Space, *, exact: bool) -> dict[str, Any]:
    """The fields that the mapping gets; without k-NN a method is refused, and none is needed."""
    return {"properties": {field: vector_property(space, exact=exact), MARKS: marks_property([field])}}


def read_meta(client: OpenSearch, index: str) -> dict[str, Any]:
    """The mapping's `_meta` of one index."""
    found: dict[str, Any] = client.indices.get_mapping(index=index)[index]["mappings"].get("_meta") or {}
    return found


def remove_ours(client: OpenSearch, index: str) -> None:
    """Take our part out of `_meta`; the rest stays as it is now."""
    meta = read_meta(client, index)
    if "trifuse" in meta:
        theirs = {name: value for name, value in meta.items() if name != "trifuse"}
        client.indices.put_mapping(index=index, body={"_meta": theirs})
