"""Attach to an index as planned: in one request the mapping and `_meta`, all indexes or none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError

from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import meta_with_space, meta_without_space, spaces_in_meta
from trifuse.indexer.attach.plan import AttachPlan, PlannedIndex
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import AttachRefused, IndexNotOurs, ServerUnavailable
from trifuse.indexer.mapping import marks_property, vector_property
from trifuse.indexer.meta import change_meta, read_meta
from trifuse.indexer.retry import reason_of
from trifuse.indexer.state import delete_state, put_state

KIND = "attach"
"""The kind of state that says of an index that it was its owner's before it was attached to."""


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
        except (TransportError, ServerUnavailable, IndexNotOurs, AttachRefused) as error:
            for undone in [*done, index]:
                _undo(client, undone, plan)
            reason = reason_of(error) if isinstance(error, TransportError) else error
            raise AttachRefused(
                f"the index {index.index!r} took no vector field: {reason}; remedy that, then attach again "
                "(no index got one)"
            ) from error
        done.append(index)
    return [
        EmbeddedField(index.index, index.uuid, index.shards, plan.field, plan.space) for index in plan.indexes
    ]


def _attach(client: OpenSearch, index: PlannedIndex, plan: AttachPlan) -> None:
    """Keep `_meta` as it was, then put the fields and the space in one request.

    Without k-NN a method is refused, and none is needed.
    """
    found = read_meta(client, index.index)
    _with_space(found, plan)
    kept = {
        "meta": _theirs(found),
        "field": plan.field,
        "mode": plan.mode,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    put_state(client, KIND, index.uuid, kept, index=index.index)
    vector = vector_property(plan.space, exact=plan.mode == "exact")
    change_meta(
        client,
        index.index,
        lambda meta: _with_space(meta, plan),
        properties={plan.field: vector, MARKS: marks_property([plan.field])},
    )


def _with_space(meta: Mapping[str, Any], plan: AttachPlan) -> dict[str, Any]:
    """`_meta` with the plan's space; where another process has attached since the look, the first holds."""
    for field, space in spaces_in_meta(meta).items():
        if space.template.local:
            continue
        if (field, space.id) != (plan.field, plan.space.id):
            raise AttachRefused(
                f"it was attached to meanwhile, by {space.encoder.encoder} from "
                f"{','.join(space.template.fields)} into {field}"
            )
    return meta_with_space(meta, plan.field, plan.space)


def _undo(client: OpenSearch, index: PlannedIndex, plan: AttachPlan) -> None:
    """Take the plan's space out of `_meta`; what another process has put there stays."""

    def without(meta: Mapping[str, Any]) -> Mapping[str, Any]:
        there = spaces_in_meta(meta).get(plan.field)
        ours = there is not None and there.id == plan.space.id
        return meta_without_space(meta, plan.field) if ours else meta

    change_meta(client, index.index, without)
    if not spaces_in_meta(read_meta(client, index.index)):
        delete_state(client, KIND, index.uuid)


def remove_ours(client: OpenSearch, index: str) -> None:
    """Take our part out of `_meta`; the rest stays as it is now."""
    change_meta(client, index, _theirs)


def _theirs(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name != "trifuse"}
