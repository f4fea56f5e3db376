"""`trifuse attach`: vectors for an index that exists."""

from __future__ import annotations

from typing import Annotated

import typer
from opensearchpy import OpenSearch

from trifuse.deploy.cli.attach_output import show_plan
from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    fail,
    index_name,
    out,
)
from trifuse.deploy.cli.sync import end_sync, progress_bars
from trifuse.deploy.config import Settings, celery_app, opensearch_client, require_opensearch, resolve
from trifuse.encoder.registry import describe_encoder, describe_model
from trifuse.indexer.attach import AttachPlan, apply_attach, plan_attach
from trifuse.indexer.sentences import attach_sentences
from trifuse.indexer.sync import sync

_KEYS = ("pending", "embedded", "skipped", "failed")

NameArgument = Annotated[
    str,
    typer.Argument(metavar="INDEX", help="The index, an alias or a data stream.", callback=index_name),
]
TextOption = Annotated[
    str, typer.Option("--text", help="Fields to embed, by their paths: title,sections.heading")
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
BumpOption = Annotated[
    bool, typer.Option("--accept-version-bump", help="Versions of documents may go up: no writer minds.")
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
    paths, filtered = _paths(text), _paths(filters or "")
    if not paths:
        raise typer.BadParameter("name at least one field", param_hint="--text")
    if exact and copy:
        raise typer.BadParameter("--exact and --copy exclude each other", param_hint="--exact")
    if alias and not copy:
        raise typer.BadParameter("only a copy (--copy) has an alias to move", param_hint="--alias")
    if filtered and not sentences:
        raise typer.BadParameter("only sentences (--sentences) repeat fields", param_hint="--filters")
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    client = require_opensearch(opensearch_client(settings), settings)
    pair = describe_model(settings.encoder).pair_separator
    plan = plan_attach(
        client,
        index,
        paths,
        describe_encoder(settings.encoder),
        field=field,
        exact=exact,
        copy=copy,
        accept_version_bump=accept_version_bump,
        alias=alias,
        separator=f" {pair} " if pair and len(paths) == 2 else "\n",
    )
    if not as_json:
        show_plan(plan)
    if dry_run or plan.refused:
        if as_json:
            emit({**dict.fromkeys(_KEYS, 0), "plan": plan.as_dict()})
        if plan.refused:
            fail(_refusal(plan))
        return
    _attach(client, plan, settings, filters=filtered if sentences else None, wait=wait, as_json=as_json)


def _paths(listed: str) -> list[str]:
    return [path.strip() for path in listed.split(",") if path.strip()]


def _refusal(plan: AttachPlan) -> str:
    said = "; ".join(
        f"{item.text} ({item.remedy})" if item.remedy else item.text
        for item in plan.findings
        if item.level == "refused"
    )
    return f"can't attach to {plan.name!r}: {said}"


def _attach(
    client: OpenSearch,
    plan: AttachPlan,
    settings: Settings,
    *,
    filters: list[str] | None,
    wait: bool,
    as_json: bool,
) -> None:
    """Do as planned, and queue what lacks its vector; with sentences where `filters` is a list."""
    # Celery takes half a second to import.
    from trifuse.worker.broker import check_broker
    from trifuse.worker.enqueue import celery_enqueue
    from trifuse.worker.inspection import is_listening

    app = celery_app(settings)
    check_broker(app.conf.broker_url)
    apply_attach(client, plan)
    if filters is not None:
        attach_sentences(
            client,
            plan.name,
            text=plan.space.template.fields,
            encoder=plan.space.encoder,
            filters=filters,
        )
    with progress_bars(shown=wait) as step:
        report = sync(
            client,
            plan.name,
            celery_enqueue(app),
            wait=wait,
            listening=lambda space: is_listening(app, space.encoder),
            progress=step,
        )
    counted = {key: getattr(report, key) for key in _KEYS}
    if as_json:
        emit({**counted, "plan": plan.as_dict()})
    else:
        out.print(", ".join(f"{key} {count:,}" for key, count in counted.items()))
        if not wait:
            out.print(
                f"vectors follow from the workers: `trifuse sync {plan.name} --wait` waits", markup=False
            )
    end_sync(plan.name, report, waited=wait)
