"""`trifuse attach`: vectors for an index that exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer
from opensearchpy import OpenSearch

from trifuse.deploy.cli.attach_output import show_plan
from trifuse.deploy.cli.common import (
    COUNTED,
    BrokerOption,
    BumpOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    PartVectorsOption,
    RedisOption,
    emit,
    fail,
    index_name,
    key_parts,
    names_in,
    print_lines,
    say_encoder,
    terminable,
)
from trifuse.deploy.cli.queueing import queueing
from trifuse.deploy.cli.sync import counts_of, end_sync, progress_bars
from trifuse.deploy.cli.text_option import fields_and_parts
from trifuse.deploy.config import Settings, opensearch_client, require_opensearch, resolve
from trifuse.encoder.registry import describe_encoder, describe_model
from trifuse.encoder.spaces import Space
from trifuse.indexer.attach import AttachPlan, apply_attach, plan_attach
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import CopyReport, complete
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.part_fields import add_part_fields
from trifuse.indexer.sentences import attach_sentences, estimate
from trifuse.indexer.sync import SyncReport, sync

NameArgument = Annotated[
    str,
    typer.Argument(metavar="INDEX", help="The index, an alias or a data stream.", callback=index_name),
]
TextOption = Annotated[
    str,
    typer.Option(
        "--text",
        help="Fields to embed, by their paths: title,sections.heading; for an encoder of parts those of "
        "each part: title=name,context=body",
    ),
]
FieldOption = Annotated[
    str | None, typer.Option("--field", help="The vector field; trifuse_vector unless that is taken.")
]
ExactOption = Annotated[bool, typer.Option("--exact", help="Without k-NN: scores are computed one by one.")]
CopyOption = Annotated[
    bool, typer.Option("--copy", help="Into a new index with k-NN on; an alias moves when it is complete.")
]
AliasOption = Annotated[
    str | None, typer.Option("--alias", help="With --copy: the alias to go by; INDEX-dense for an index.")
]
SentencesOption = Annotated[
    bool, typer.Option("--sentences", help="Also embed each sentence, in an index of its own.")
]
FiltersOption = Annotated[
    str | None,
    typer.Option("--filters", help="With --sentences: fields that sentences can be filtered by, a,b."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only look, and say what can be done.")]
WaitOption = Annotated[bool, typer.Option("--wait", help="Stay until every document has its vector.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("attach")(attach_command)


def attach_command(
    index: NameArgument,
    text: TextOption,
    field: FieldOption = None,
    exact: ExactOption = False,
    copy: CopyOption = False,
    alias: AliasOption = None,
    sentences: SentencesOption = False,
    filters: FiltersOption = None,
    part_vectors: PartVectorsOption = False,
    accept_version_bump: BumpOption = False,
    dry_run: DryRunOption = False,
    wait: WaitOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Add vectors to an index that exists; workers fill them in the background.

    It looks first: where anything stands in the way it says what to do, and writes nothing. Run again, it
    goes on.

    Example: [bold]trifuse attach articles --text title,abstract --dry-run[/bold]
    """
    filtered = names_in(filters)
    if not names_in(text):
        raise typer.BadParameter("name at least one field", param_hint="--text")
    if exact and copy:
        raise typer.BadParameter("--exact and --copy exclude each other", param_hint="--exact")
    if alias and not copy:
        raise typer.BadParameter("only a copy (--copy) has an alias to move", param_hint="--alias")
    if filtered and not sentences:
        raise typer.BadParameter("only sentences (--sentences) repeat fields", param_hint="--filters")
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    model = describe_model(settings.encoder)
    vectors = describe_encoder(settings.encoder)
    paths, parts = fields_and_parts(text, vectors)
    own_vectors = key_parts(model) if part_vectors else ()
    client = require_opensearch(opensearch_client(settings), settings)
    plan = plan_attach(
        client,
        index,
        paths,
        vectors,
        field=field,
        exact=exact,
        copy=copy,
        accept_version_bump=accept_version_bump,
        alias=alias,
        separator=f" {model.pair_separator} " if model.pair_separator and len(paths) == 2 else "\n",
        parts=parts,
        part_vectors=own_vectors,
    )
    split = estimate(client, index, _fields(plan)) if sentences and _is_read(plan) else None
    if not plan.refused:
        say_encoder(vectors)
    if not as_json:
        show_plan(plan, split)
    if dry_run or plan.refused:
        if as_json:
            counted = {} if split is None else {"sentences": split.sentences}
            emit({**dict.fromkeys(COUNTED, 0), **counted, "plan": plan.as_dict()})
        if plan.refused:
            fail(_refusal(plan))
        return
    _attach(
        client,
        plan,
        settings,
        filters=filtered if sentences else None,
        parts=own_vectors,
        wait=wait,
        as_json=as_json,
    )


def _fields(plan: AttachPlan) -> tuple[str, ...]:
    """The fields of the text, each once: one may be of two parts."""
    return tuple(dict.fromkeys(plan.space.template.fields))


def _is_read(plan: AttachPlan) -> bool:
    return plan.estimates is not None and plan.estimates.sample.documents > 0


def _refusal(plan: AttachPlan) -> str:
    """What to do about each thing that stands in the way; the plan says more."""
    said = "; ".join(
        f"{item.subject}: {item.remedy or item.text}" for item in plan.findings if item.level == "refused"
    )
    return f"can't attach to {plan.name!r} like this, and nothing was written. {said}"


def _attach(
    client: OpenSearch,
    plan: AttachPlan,
    settings: Settings,
    *,
    filters: tuple[str, ...] | None,
    parts: tuple[str, ...],
    wait: bool,
    as_json: bool,
) -> None:
    """Do as planned, and queue what lacks its vector; with sentences where `filters` is a tuple.

    Vectors of parts come after the others: into a copy when it has been switched to.
    """
    enqueue, listening = queueing(settings)
    if plan.mode == "copy" and not plan.attached:
        _copy(client, plan, enqueue, listening, filters=filters, parts=parts, as_json=as_json)
        return
    apply_attach(client, plan)
    add_part_fields(client, plan.name, parts)
    sentences = _add_sentences(client, plan.name, plan, filters)
    with progress_bars() as step:
        report = sync(client, plan.name, enqueue, wait=wait, listening=listening, progress=step)
    _tell(report, plan, as_json=as_json)
    if not as_json:
        print_lines(_search_of(plan.name, sentences))
        if not wait:
            print_lines([f"vectors follow from the workers: `trifuse sync {plan.name} --wait` waits"])
    end_sync(plan.name, report, waited=wait)


def _add_sentences(
    client: OpenSearch, index: str, plan: AttachPlan, filters: tuple[str, ...] | None
) -> list[str]:
    """The names of the indexes of sentences; none where they aren't asked for."""
    if filters is None:
        return []
    return attach_sentences(client, index, text=_fields(plan), encoder=plan.space.encoder, filters=filters)


def _search_of(index: str, sentences: Iterable[str]) -> Iterator[str]:
    for name in sentences:
        yield f'sentences are in {name}: `trifuse search {index} "..." --sentences` ranks them'


def _copy(
    client: OpenSearch,
    plan: AttachPlan,
    enqueue: Enqueue,
    listening: Callable[[Space], bool],
    *,
    filters: tuple[str, ...] | None,
    parts: tuple[str, ...] = (),
    as_json: bool,
) -> None:
    """Make the copy, or go on with it, and switch the alias to it when it is complete."""
    alias = plan.alias or plan.name
    copy = begin(client, plan.name, alias=alias, space_field=(plan.field, plan.space))
    sentences = _add_sentences(client, copy.index, plan, filters)
    with progress_bars() as step, terminable():
        report = complete(client, copy, enqueue, listening=listening, progress=step)
    _tell(report, plan, as_json=as_json)
    if not report.switched:
        fail(
            f"the alias {alias} wasn't moved to {copy.index}: {'; '.join(report.faults)}; the same "
            f"command goes on, `trifuse detach {plan.name}` gives the copy up"
        )
    if not as_json:
        print_lines(_search_of(alias, sentences))
        print_lines(
            [
                f"the alias {alias} stands for {copy.index}: have readers and writers go by it. "
                f"{copy.source} takes no writes any more; `trifuse detach {alias}` goes back to it"
            ]
        )
    done = SyncReport(report.pending, report.embedded, report.skipped, report.failed)
    if add_part_fields(client, alias, parts):
        with progress_bars() as step:
            done = sync(client, alias, enqueue, listening=listening, progress=step)
    end_sync(alias, done, waited=False)


def _tell(report: SyncReport | CopyReport, plan: AttachPlan, *, as_json: bool) -> None:
    """The counts, and with a copy what became of it."""
    counted = {key: getattr(report, key) for key in COUNTED}
    if as_json:
        copied = {"copy": report} if isinstance(report, CopyReport) else {}
        emit({**counted, **copied, "plan": plan.as_dict()})
    else:
        print_lines([counts_of(report)])
