"""Look at an index, and say what attaching would do to it. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, next_field, spaces_in_meta
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.attach.disk import bytes_per_hit
from trifuse.indexer.attach.facts import IndexFacts, ServerFacts, read_indexes, read_sample, read_server
from trifuse.indexer.attach.judge_index import judge_index
from trifuse.indexer.attach.judge_name import (
    judge_encoder,
    judge_name,
    judge_spaces,
    judge_text,
    judge_versions,
)
from trifuse.indexer.attach.judge_server import disk_needed, judge_disk, judge_response, judge_server
from trifuse.indexer.attach.plan import (
    AttachPlan,
    Estimates,
    Finding,
    PlannedIndex,
    Request,
    Sample,
    is_refused,
)
from trifuse.indexer.copying.copies import all_copies


def plan_attach(
    client: OpenSearch,
    name: str,
    text: Sequence[str],
    encoder: EncoderSpace,
    *,
    field: str | None = None,
    exact: bool = False,
    copy: bool = False,
    accept_version_bump: bool = False,
    alias: str | None = None,
    separator: str = "\n",
    parts: Sequence[str] = (),
    part_vectors: Sequence[str] = (),
) -> AttachPlan:
    """What attaching would do to the index, or to all indexes behind an alias or a data stream.

    Args:
        text: the fields that are embedded, as paths.
        encoder: the space of the document encoder.
        field: the vector field; chosen where None.
        exact: without k-NN.
        copy: into a new index; `alias` is what readers and writers go by then. Where that was done already,
            the plan is of this alias.
        accept_version_bump: the owner knows that versions of documents go up.
        separator: what stands between two fields in a text.
        parts: for an encoder of parts, the part of each field of `text`.
        part_vectors: parts that get vectors of their own as well, as far as the text has them.

    Raises:
        IndexMissing: nothing has that name.
        SpaceMismatch: the encoder doesn't take these parts.
        ValueError: no text field is given, or not one part a field, or both `exact` and `copy`.
    """
    if exact and copy:
        raise ValueError("exact and copy exclude each other: give one of them")
    request = Request(
        name=name,
        text=tuple(text),
        encoder=encoder,
        mode="exact" if exact else "copy" if copy else "in_place",
        field=field,
        accept_version_bump=accept_version_bump,
        alias=alias,
        parts=tuple(parts),
    )
    server = read_server(client)
    indexes = read_indexes(client, name)
    template, findings = _texts(indexes, request, separator)
    space = Space(encoder, template)
    if copy and (switched := _switched_to(client, name, indexes, space)):
        return plan_attach(
            client,
            switched,
            text,
            encoder,
            copy=True,
            separator=separator,
            parts=parts,
            part_vectors=part_vectors,
        )
    chosen, held = _field(indexes, space, request)
    findings = [*_judge(server, indexes, request, space, chosen, held), *findings]
    wanted = [space, *(space.of_part(part) for part in part_vectors if part in template.parts)]
    needed = sum(
        disk_needed(server, index, request, _lacking(index, wanted), copied=copy and index.name not in held)
        for index in indexes
    )
    per_hit = len(wanted) * bytes_per_hit(encoder.dimension)
    readable = [index.name for index in indexes if not index.closed]
    # A consent that is still to be given keeps nobody from reading the text beforehand.
    legible = readable and not is_refused(item for item in findings if item.subject != "versions")
    sample = read_sample(client, readable, template) if legible else Sample()
    response = judge_response(per_hit, chosen, parts=len(wanted) > 1)
    findings += [judge_disk(server, needed), response, *_sampled(sample)]
    return AttachPlan(
        name=name,
        mode=request.mode,
        field=chosen,
        space=space,
        indexes=tuple(_planned(index, index.name in held) for index in indexes),
        findings=tuple(findings),
        estimates=Estimates(
            sum(index.documents for index in indexes),
            needed,
            sum(disk.free for disk in server.disks) if server.disks else None,
            per_hit,
            sample,
        ),
        alias=_alias(indexes, request),
    )


def _switched_to(client: OpenSearch, name: str, indexes: Sequence[IndexFacts], space: Space) -> str | None:
    """The alias that was switched to a copy of this index, with vectors of this space; None without one."""
    if len(indexes) != 1:
        return None
    uuid = indexes[0].uuid
    for copy in all_copies(client, indexes[0].name):
        same = copy.source_uuid == uuid and copy.space.id == space.id
        if same and copy.standing.phase == "switched" and copy.alias != name:
            return copy.alias
    return None


def _judge(
    server: ServerFacts,
    indexes: Sequence[IndexFacts],
    request: Request,
    space: Space,
    field: str,
    held: Sequence[str],
) -> list[Finding]:
    findings = [*judge_server(server, request)]
    spaces = [*judge_spaces(indexes, space, request)]
    if is_refused(spaces):  # no new field is made, so that nothing else matters
        return [*findings, *spaces]
    # What holds the vectors already was looked at when it was attached to.
    new = [index for index in indexes if index.name not in held]
    if new:
        findings += [*judge_name(indexes, request), judge_encoder(request.encoder), judge_versions(request)]
    findings += spaces
    for index in new:
        findings += judge_index(index, request, field)
    return findings


def _texts(
    indexes: Sequence[IndexFacts], request: Request, separator: str
) -> tuple[TextTemplate, list[Finding]]:
    """One template for all indexes: vectors of another one are in another space."""
    paths: list[list[tuple[str, str]]] = []
    findings: list[Finding] = []
    for index in indexes:
        found, said = judge_text(index, request)
        paths.append(found)
        findings += said
    if not is_refused(findings) and any(each != paths[0] for each in paths):
        findings.append(
            Finding(
                "refused",
                "text",
                f"the indexes keep {', '.join(request.text)} under different paths",
                "attach to each of them by its own name",
            )
        )
    # Without any field that can be taken the plan is refused; it still says what was asked for.
    if not (paths and paths[0]):
        return TextTemplate(request.text, separator, parts=request.parts), findings
    named = tuple(part for _, part in paths[0] if part)
    return TextTemplate(tuple(path for path, _ in paths[0]), separator, parts=named), findings


def _field(indexes: Sequence[IndexFacts], space: Space, request: Request) -> tuple[str, list[str]]:
    """The vector field, and the indexes that have it in this space already.

    A field that a mapping has is never taken again, not even one that a detachment left empty: a field keeps
    one space for as long as the index exists.
    """
    fields = {
        index.name: name
        for index in indexes
        for name, found in spaces_in_meta(index.meta).items()
        if found.id == space.id
    }
    if fields:
        return next(iter(fields.values())), list(fields)
    taken = {name for index in indexes for name in index.properties}
    return request.field or next_field(taken, VECTOR_FIELD), []


def _lacking(index: IndexFacts, wanted: Sequence[Space]) -> int:
    """How many of these spaces an index has no field of."""
    there = {found.id for found in spaces_in_meta(index.meta).values()}
    return sum(space.id not in there for space in wanted)


def _planned(index: IndexFacts, attached: bool) -> PlannedIndex:
    return PlannedIndex(index.name, index.uuid, index.shards, index.documents, attached)


def _alias(indexes: Sequence[IndexFacts], request: Request) -> str | None:
    """What readers and writers go by after a copy: the alias that was given, else one beside the index."""
    if request.mode != "copy":
        return None
    is_alias = any(request.name in index.aliases for index in indexes)
    return request.alias or (request.name if is_alias else f"{request.name}-dense")


def _sampled(sample: Sample) -> list[Finding]:
    if not sample.documents:
        return []
    text = f"{sample.with_text} of {sample.documents} documents that were read have a text"
    if sample.with_text:
        return [Finding("ok", "sample", f"{text}: {sample.example}")]
    return [Finding("note", "sample", text, "check --text: documents without a text get no vector")]
