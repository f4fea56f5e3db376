"""`trifuse reembed`: another encoder for a live index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
from opensearchpy import OpenSearch

from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    fail,
    index_name,
    say,
    terminable,
)
from trifuse.deploy.cli.queueing import queueing
from trifuse.deploy.cli.reembed_output import (
    NOT_SWITCHED,
    SAID,
    end_reembed,
    say_of_parts,
    switched_to,
    tell_reembed,
)
from trifuse.deploy.cli.sync import progress_bars
from trifuse.deploy.cli.text_option import fields_and_parts
from trifuse.deploy.config import Settings, opensearch_client, require_opensearch, resolve
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.reembed import (
    Filled,
    abandon,
    begin,
    fill,
    finish,
    roll_back,
    stage_of,
    switch,
)
from trifuse.indexer.reembed.blue_green import open_copy

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
SwitchOption = Annotated[
    bool, typer.Option("--switch", help="Have queries go by the new vectors, after --no-switch.")
]
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
        raise typer.BadParameter(
            "one step at a time: --text, --in-place and --no-switch go with --encoder, which switches by "
            "itself when all is embedded, unless --no-switch is given"
        )
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
        told = switched_to(client, index) if what == "switched" else SAID[what].format(index)
        tell_reembed(client, index, told, as_json=as_json)
        return
    if what == "begin" and (copy := open_copy(client, index)) is not None:
        say(
            f"{copy.alias} is an alias: {copy.source} is copied to {copy.index}, and the switch moves the "
            f"alias there. For a second field in {copy.source} instead: --abandon, then --in-place",
            "yellow",
        )
    say_of_parts(client, index)
    before = stage_of(client, index).serving
    filled = _work(client, index, settings, fill, switch=not no_switch)
    said = switched_to(client, index) if filled.switched else NOT_SWITCHED.format(index)
    tell_reembed(client, index, said, filled, before=before, given=encoder, as_json=as_json)
    end_reembed(filled)


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
        said = switched_to(client, index) if filled.switched else NOT_SWITCHED.format(index)
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
    tell_reembed(client, index, said, filled, before=before, as_json=as_json)
    if filled is not None:
        end_reembed(filled)


def _ask_to_delete(source: str, index: str) -> None:
    """Ask before the index is deleted from which the present one was copied: nothing leads back then."""
    question = f"Delete the index {source!r}, and with it the way back from {index!r}?"
    if not typer.confirm(question, err=True):
        fail(f"{index!r} is as it was; --rollback still leads back")
