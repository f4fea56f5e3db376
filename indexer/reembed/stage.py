"""How far an index has come on its way to another space, and what is to be done next: pure decisions.

`_meta` of the mapping says it, beside the spaces: `reembed` names the field that was served before and the
one that is to be; or the one that is being taken out.

    {"trifuse": {"fields": {...}, "serving": "trifuse_vector",
                 "reembed": {"from": "trifuse_vector", "to": "trifuse_vector_2"}}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.ours import meta_with, meta_without, ours_in
from trifuse.encoder.spaces import (
    Space,
    meta_serving,
    meta_with_space,
    part_fields,
    serving_field,
    spaces_in_meta,
)
from trifuse.indexer.errors import IndexNotOurs, ReembedRefused

Step = Literal["none", "filling", "switched", "dropping"]
Next = Literal["current", "tower", "begin", "resume", "switched"]


class Stage(msgspec.Struct, frozen=True):
    """Where an index stands.

    Args:
        index: its name, for messages.
        serving, space: the field that queries go by, and its space.
        step: `none` is under way; the new field is `filling`, or queries have `switched` to it; or a field
            is `dropping`: out of use, but not yet out of all documents.
        other, other_space: the second field: the new one while it fills, the old one after the switch, the
            one that is dropped; None where there is none.
    """

    index: str
    serving: str
    space: Space
    step: Step = "none"
    other: str | None = None
    other_space: Space | None = None


def read_stage(index: str, meta: Mapping[str, Any] | None) -> Stage:
    """The stage that an index's `_meta` tells.

    Raises:
        IndexNotOurs: it has no vectors of ours.
        SpaceMismatch: what stands there can't be read.
    """
    spaces, serving = spaces_in_meta(meta), serving_field(meta)
    if serving is None:
        raise IndexNotOurs(
            f"the index {index!r} has no vectors to make anew: add some with `trifuse attach {index}`"
        )
    stage = Stage(index, serving, spaces[serving])
    note = ours_in(meta).get("reembed")
    try:
        if not note:
            return stage
        if dropping := note.get("dropping"):
            space = Space.from_dict(dropping["space"])
            return msgspec.structs.replace(stage, step="dropping", other=dropping["field"], other_space=space)
        step: Step = "switched" if serving == note["to"] else "filling"
        other = note["from"] if step == "switched" else note["to"]
        return msgspec.structs.replace(stage, step=step, other=other, other_space=spaces[other])
    except (AttributeError, KeyError, TypeError) as error:
        raise SpaceMismatch(
            f"the mapping's _meta of {index!r} says that it is embedded anew, and can't be read ({error!r}): "
            "it was edited by hand, or written by another version of trifuse; use that one"
        ) from error


def decide(stage: Stage, wanted: Space) -> Next:
    """What embedding an index by `wanted` comes to.

    `tower`: only queries are encoded otherwise, and no vector is made anew.

    Raises:
        ReembedRefused: it is on its way to another space.
    """
    index, encoder = stage.index, wanted.encoder.encoder
    if stage.step in ("none", "dropping"):
        if wanted.id != stage.space.id:
            return "begin"
        return "current" if wanted.encoder.query_tower == stage.space.encoder.query_tower else "tower"
    if stage.step == "switched":
        if wanted.id == stage.space.id:
            return "switched"
        raise ReembedRefused(
            f"{index!r} was switched to {stage.space.encoder.encoder!r} and still has what it had before: "
            f"end that first, with `trifuse reembed {index} --finish` or `--rollback`; then use {encoder!r}"
        )
    new = stage.other_space or stage.space
    if wanted.id == new.id:
        return "resume"
    going = new.encoder.encoder
    raise ReembedRefused(
        f"{index!r} is being embedded by {going!r} of {','.join(new.template.fields)}, and not by "
        f"{encoder!r} of {','.join(wanted.template.fields)}: go on with `trifuse reembed {index} --encoder "
        f"{going}`, or drop that with `trifuse reembed {index} --abandon`"
    )


def meta_begun(meta: Mapping[str, Any], old: str, new: str, space: Space) -> dict[str, Any]:
    """`_meta` with one more field, while queries stay with the old one."""
    merged = meta_serving(meta_with_space(meta, new, space), old)
    return meta_with(merged, "reembed", {"from": old, "to": new})


def meta_dropping(meta: Mapping[str, Any], field: str) -> dict[str, Any]:
    """`_meta` without a field that is going to be taken out of the documents; it says so.

    With it go the vectors of its parts, unless they are of another field's texts too.
    """
    fields = dict(ours_in(meta)["fields"])
    if field not in fields:
        return dict(meta)
    parts = set(part_fields(meta, field).values())
    for other in fields:
        if other != field:
            parts -= set(part_fields(meta, other).values())
    taken = {name: fields.pop(name) for name in sorted(parts)}
    note = {"dropping": {"field": field, "space": fields.pop(field), **({"parts": taken} if taken else {})}}
    return meta_with(meta_with(meta, "fields", fields), "reembed", note)


def dropping_in_meta(meta: Mapping[str, Any]) -> dict[str, Space]:
    """The fields that are being taken out of the documents, each with the space that it had."""
    note = (ours_in(meta).get("reembed") or {}).get("dropping") or {}
    if not note:
        return {}
    found = {**note.get("parts", {}), note["field"]: note["space"]}
    return {field: Space.from_dict(space) for field, space in found.items()}


def meta_done(meta: Mapping[str, Any]) -> dict[str, Any]:
    """`_meta` with nothing under way."""
    return meta_without(meta, "reembed")
