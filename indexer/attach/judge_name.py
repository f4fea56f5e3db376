"""What the name stands for: an index, an alias over some, a filtered alias, a data stream; versions. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trifuse.encoder.spaces import EncoderSpace, Space, spaces_in_meta
from trifuse.indexer.attach.facts import IndexFacts
from trifuse.indexer.attach.paths import Resolved, Wrong, resolve
from trifuse.indexer.attach.plan import Finding, Request


def judge_name(indexes: Sequence[IndexFacts], request: Request) -> Iterator[Finding]:
    """Which indexes are meant."""
    names = ", ".join(index.name for index in indexes)
    documents = f"the index {names}, of {sum(index.documents for index in indexes):,} documents"
    stream = next((index.data_stream for index in indexes if index.data_stream), None)
    if stream and request.mode == "copy":
        yield Finding(
            "refused",
            "name",
            f"{stream} is a data stream, which can't be copied",
            "attach in place (no --copy)",
        )
    elif stream:
        yield Finding(
            "note",
            "name",
            f"{stream} is a data stream over {names}: a rollover makes an index without vectors",
            f"attach to {stream} again after each rollover, with the same options",
        )
    elif len(indexes) > 1 and request.mode == "copy":
        yield Finding(
            "refused", "name", f"{request.name} stands for {names}", "copy each of them by its own name"
        )
    elif len(indexes) > 1:
        yield Finding("ok", "name", f"{request.name} stands for {names}: all of them, or none")
    elif names != request.name:
        yield Finding("ok", "name", f"{request.name} is an alias of {documents}")
    else:
        yield Finding("ok", "name", documents)
    filtered = [index.name for index in indexes if (index.aliases.get(request.name) or {}).get("filter")]
    if filtered:
        yield Finding(
            "note",
            "alias",
            f"{request.name} filters {', '.join(filtered)}: all documents get vectors, also those that it "
            "hides; searches by the alias find only what it shows",
        )


def judge_versions(request: Request) -> Finding:
    """What writing into the owner's documents breaks for the owner's writers."""
    if request.mode == "copy":
        return Finding(
            "note",
            "versions",
            "the documents at hand aren't written to; in the copy versions begin anew, so that an older "
            "write that comes late isn't refused there (version_type=external)",
            "let writers that give versions themselves send all they have before the switch",
        )
    text = (
        "writing a vector raises _version and _seq_no of each document: a writer that gives versions itself "
        "(version_type=external) gets a 409 until its number is higher, and one that compares and sets by "
        "if_seq_no must read again"
    )
    if request.accept_version_bump:
        return Finding("note", "versions", text)
    remedy = "give --accept-version-bump where you have no such writer, else --copy"
    return Finding("refused", "versions", text, remedy)


def judge_encoder(encoder: EncoderSpace) -> Finding:
    """Which model makes the vectors: it is chosen for all of them, and changed only by embedding anew."""
    said = f"vectors of {encoder.dimension} dimensions by {encoder.encoder}"
    return Finding("ok", "encoder", said, "another with --encoder: trifuse encoders list")


def judge_spaces(indexes: Sequence[IndexFacts], space: Space, request: Request) -> Iterator[Finding]:
    """Whether an index has vectors already, and what to do where these are others."""
    for index in indexes:
        for field, found in spaces_in_meta(index.meta).items():
            if found.template.local:
                continue
            if found.id == space.id and request.field in (None, field):
                yield Finding(
                    "ok", "attached", f"{index.name} has them in {field}: what lacks its vector gets it"
                )
                break
            if found.id == space.id:
                yield Finding("refused", "attached", f"{index.name} has them in {field}", "leave out --field")
                break
            same_text = found.template == space.template
            what = f"vectors by {found.encoder.encoder} of {','.join(found.template.fields)}"
            if not same_text:
                remedy = (
                    f"trifuse reembed {request.name}, with --text and --encoder; or detach first: trifuse "
                    f"detach {request.name}"
                )
            else:
                remedy = f"trifuse reembed {request.name}, with the same --encoder"
            yield Finding("refused", "attached", f"{index.name} has {what} in {field}", remedy)
            break


def judge_text(index: IndexFacts, request: Request) -> tuple[list[tuple[str, str]], list[Finding]]:
    """The paths of the text in `_source` with the part of each ("" without), each once; what was found."""
    paths: list[tuple[str, str]] = []
    findings: list[Finding] = []
    for name, part in zip(request.text, request.parts or [""] * len(request.text), strict=True):
        try:
            found: Resolved = resolve(name, index.mappings)
        except Wrong as wrong:
            findings.append(Finding("refused", "text", f"{index.name}: {wrong.what}", wrong.remedy))
            continue
        paths.append((found.path, part))
        if found.note:
            findings.append(Finding("note", "text", f"{index.name}: {found.note}"))
    paths = list(dict.fromkeys(paths))
    if not findings:
        shown = (f"{part}={path}" if part else path for path, part in paths)
        findings.append(Finding("ok", "text", f"{index.name}: {', '.join(shown)}"))
    return paths, findings
