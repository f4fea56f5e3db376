"""`trifuse reembed`: another encoder for a live index."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Annotated, Any

import typer
from opensearchpy import OpenSearch

from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    index_name,
    print_lines,
    say,
    terminable,
)
from trifuse.deploy.cli.queueing import queueing
from trifuse.deploy.cli.ranking import pinned_profiles
from trifuse.deploy.cli.sync import progress_bars
from trifuse.deploy.cli.text_option import fields_and_parts
from trifuse.deploy.config import Settings, opensearch_client, require_opensearch, resolve
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.errors import IndexMissing
from trifuse.indexer.reembed import (
    Filled,
    abandon,
    begin,
    fill,
    finish,
    left_in_old_space,
    roll_back,
    stage_of,
    switch,
)
from trifuse.indexer.reembed.blue_green import open_copy
from trifuse.ranker.errors import RankerError
from trifuse.ranker.profiles.store import ProfileStore

NameArgument = Annotated[
    str, typer.Argument(metavar="INDEX", help="The index, or an alias of one.", callback=index_name)
]
TextOption = Annotated[
    str | None,
    typer.Option(
        "--text",
        help="Other fields to embed than now, by their paths: title,abstract; for an encoder of parts those "
        "of each part: title=name,context=body",
    ),
]
InPlaceOption = Annotated[
    bool, typer.Option("--in-place", help="Also of an alias: a second field in its index, and no copy.")
]
BumpOption = Annotated[
    bool, typer.Option("--accept-version-bump", help="Versions of documents may go up: no writer minds.")
]
NoSwitchOption = Annotated[
    bool, typer.Option("--no-switch", help="Only fill; queries stay as they are until --switch.")
]
SwitchOption = Annotated[bool, typer.Option("--switch", help="Have queries go by the new vectors.")]
RollbackOption = Annotated[bool, typer.Option("--rollback", help="Have queries go by the old ones again.")]
AbandonOption = Annotated[
    bool, typer.Option("--abandon", help="Before the switch: take the new vectors out again.")
]
FinishOption = Annotated[bool, typer.Option("--finish", help="After the switch: take the old vectors out.")]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Don't ask before --finish deletes the index that was copied.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reembed")(reembed_command)


def reembed_command(
    index: NameArgument,
    text: TextOption = None,
    in_place: InPlaceOption = False,
    no_switch: NoSwitchOption = False,
    to_new: SwitchOption = False,
    rollback: RollbackOption = False,
    to_abandon: AbandonOption = False,
    to_finish: FinishOption = False,
    yes: YesOption = False,
    accept_version_bump: BumpOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Give an index the vectors of another encoder, beside those that it has, and then switch to them.

    An index gets a second vector field; an alias a new index, to which it moves. Queries go by the old
    vectors until all documents have the new one, which takes a worker of the new encoder. Interrupted, the
    same command goes on. Until [bold]--finish[/bold] one command leads back.

    Example: [bold]trifuse reembed trials --encoder e5-small-v2-int8 --no-switch[/bold], then
    [bold]trifuse reembed trials --switch[/bold]
    """
    steps = {"--switch": to_new, "--rollback": rollback, "--abandon": to_abandon, "--finish": to_finish}
    chosen = [name for name, given in steps.items() if given]
    if len(chosen) > 1 or (chosen and (no_switch or text or in_place)):
        raise typer.BadParameter("one step at a time; --text, --in-place and --no-switch go with --encoder")
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    client = require_opensearch(opensearch_client(settings), settings)
    if chosen:
        _step(client, index, chosen[0], settings, yes=yes, as_json=as_json)
        return
    vectors = _encoder(client, index, encoder, settings)
    paths, parts = fields_and_parts(text, vectors)
    what = begin(
        client,
        index,
        vectors,
        text=paths,
        parts=parts,
        in_place=in_place,
        accept_version_bump=accept_version_bump,
    )
    if what not in ("begin", "resume"):
        told = _switched(client, index) if what == "switched" else _SAID[what].format(index)
        _tell(client, index, told, as_json=as_json)
        return
    if what == "begin" and (copy := open_copy(client, index)) is not None:
        say(
            f"{copy.alias} is an alias: {copy.source} is copied to {copy.index}, and the switch moves the "
            f"alias there. For a second field in {copy.source} instead: --abandon, then --in-place",
            "yellow",
        )
    before = stage_of(client, index).serving
    filled = _work(client, index, settings, fill, switch=not no_switch)
    said = _switched(client, index) if filled.switched else _NOT_SWITCHED.format(index)
    _tell(client, index, said, filled, before=before, given=encoder, as_json=as_json)
    _end(filled)


_NOT_SWITCHED = "queries of {0!r} go by the old vectors until `trifuse reembed {0} --switch`"
_SAID = {
    "current": "{0!r} has the vectors of this encoder: nothing to do",
    "tower": "only queries of {0!r} are encoded otherwise: its vectors stay, and its _meta names the new "
    "query tower; past queries follow with `trifuse clicks rebuild --index {0}`",
}


def _switched(client: OpenSearch, index: str) -> str:
    """What queries go by after the switch; after one to a copy, what readers and writers must know."""
    copy = open_copy(client, index)
    if copy is None:
        return (
            f"queries of {index!r} go by the new vectors: `trifuse reembed {index} --rollback` leads back, "
            "--finish takes the old ones out"
        )
    return (
        f"the alias {copy.alias} stands for {copy.index}: have readers and writers go by it. {copy.source} "
        f"takes no writes any more; `trifuse reembed {copy.alias} --rollback` goes back to it, --finish "
        "deletes it"
    )


def _encoder(client: OpenSearch, index: str, given: str | None, settings: Settings) -> EncoderSpace:
    """The encoder that was named, or the one that is under way."""
    if given is not None:
        return describe_encoder(settings.encoder)
    stage = stage_of(client, index)
    if stage.step == "filling" and stage.other_space is not None:
        return stage.other_space.encoder
    if stage.step == "switched":
        return stage.space.encoder
    raise typer.BadParameter("name the new encoder", param_hint="--encoder")


def _work(
    client: OpenSearch, index: str, settings: Settings, job: Callable[..., Filled], **how: bool
) -> Filled:
    """Fill or switch, with bars on stderr."""
    enqueue, listening = queueing(settings)
    with progress_bars() as step, terminable():
        return job(client, index, enqueue, listening=listening, progress=step, **how)


def _step(client: OpenSearch, index: str, step: str, settings: Settings, *, yes: bool, as_json: bool) -> None:
    filled = None
    before = stage_of(client, index).serving if step in ("--switch", "--rollback") else None
    if step == "--switch":
        filled = _work(client, index, settings, switch)
        said = _switched(client, index) if filled.switched else _NOT_SWITCHED.format(index)
    elif step == "--rollback":
        roll_back(client, index)
        said = (
            f"queries of {index!r} go by the old vectors again: `trifuse reembed {index} --switch` leads to "
            "the new ones, --abandon takes these out"
        )
    else:
        copy = open_copy(client, index)
        if copy is not None and step == "--finish" and not yes:
            _ask_to_delete(copy.source, index)
        done = (abandon if step == "--abandon" else finish)(client, index)
        which = "new" if step == "--abandon" else "old"
        said = (
            f"took the {which} vectors out of {done:,} documents; the mapping keeps the field, empty as it "
            "is now: OpenSearch takes none out of a mapping"
            if done
            else f"the {which} vectors of {index!r} are gone"
        )
        if copy is not None:
            said += f", with the index {copy.index if step == '--abandon' else copy.source!r}"
    _tell(client, index, said, filled, before=before, as_json=as_json)
    if filled is not None:
        _end(filled)


def _ask_to_delete(source: str, index: str) -> None:
    """Ask before the index is deleted from which the present one was copied: nothing leads back then."""
    question = f"Delete the index {source!r}, and with it the way back from {index!r}?"
    if not typer.confirm(question, err=True):
        fail(f"{index!r} is as it was; --rollback still leads back")


_KEYS = ("pending", "embedded", "skipped", "failed")


def _tell(
    client: OpenSearch,
    index: str,
    said: str,
    filled: Filled | None = None,
    *,
    before: str | None = None,
    given: str | None = None,
    as_json: bool,
) -> None:
    """The counts, where the index stands now, and what to do about its sentences and stored profiles.

    Args:
        before: the field that queries went by.
        given: the encoder as it was named: by its folder, it may be.
    """
    counted = filled or Filled(0, 0, 0, 0)
    try:
        stage = stage_of(client, index)
    except IndexMissing:  # it was the copy of an index that is gone, and was given up
        emit({**dict.fromkeys(_KEYS, 0), "step": "none"}) if as_json else print_lines([said])
        return
    if as_json:
        about: dict[str, Any] = {
            "step": stage.step,
            "serving": stage.serving,
            "encoder": stage.space.encoder.encoder,
            "failures": list(counted.failures),
        }
        emit({**{key: getattr(counted, key) for key in _KEYS}, **about})
    else:
        print_lines([said])
    if left := left_in_old_space(client, index):
        new = f"--encoder {shlex.quote(given or left.wanted)}"
        say(
            f"the sentences {left.index!r} stay with the encoder {left.present!r}: `trifuse reembed "
            f"{left.index} {'--rollback' if left.step == 'rollback' else new}` changes them as well",
            "yellow",
        )
    if before not in (None, stage.serving):
        _warn_of_pinned_profiles(client, index, before, stage.serving)


def _warn_of_pinned_profiles(client: OpenSearch, index: str, before: str, serving: str) -> None:
    """Name the stored profiles that stay behind with the field that the index was served by."""
    try:
        names = pinned_profiles(ProfileStore(client), before)
    except RankerError as error:
        say(f"stored profiles can't be read ({error}): some may name the vector field {before!r}", "yellow")
        return
    if names:
        say(
            f"the stored profiles {', '.join(names)} name the vector field {before!r}: by them searches of "
            f"{index!r} stay with it, and have no vectors once it is gone, while others go by {serving!r}. "
            f"If they are to follow: `trifuse profile show {names[0]} > profile.json`, set vector_field to "
            f"null in it, `trifuse profile set {names[0]} --from profile.json`",
            "yellow",
        )


def _end(filled: Filled) -> None:
    """End with 1 where something failed, or stayed pending."""
    for line in filled.failures:
        err.print(f"trifuse: {line}", markup=False, soft_wrap=True)
    if filled.stalled:
        fail(filled.stalled)
    if filled.pending:
        fail(f"{filled.pending:,} documents are still pending: the same command goes on")
    if filled.failed:
        fail(f"{filled.failed:,} documents can't be embedded: the index trifuse-failed says why")
