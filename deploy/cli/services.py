"""`trifuse up`, `trifuse down` and `trifuse status`: the services on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    out,
    say,
    terminable,
)
from trifuse.deploy.cli.services_output import copy_line, failure_lines, indexes_table, workers_table
from trifuse.deploy.config import resolve, without_password
from trifuse.deploy.local.places import home_dir
from trifuse.deploy.local.state import load_state

if TYPE_CHECKING:
    from trifuse.deploy.local.status import ServiceStatus, Status

PORT_HELP = "Port of {}; 0 takes a free one. Without it: the usual one, or else a free one."


def _heap(value: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*[mMgG]", value):
        raise typer.BadParameter(f"{value!r} is no amount of memory: write it as 512m or 1g")
    return value


OpenSearchPort = Annotated[int | None, typer.Option(min=0, max=65535, help=PORT_HELP.format("OpenSearch"))]
RedisPort = Annotated[int | None, typer.Option(min=0, max=65535, help=PORT_HELP.format("Redis"))]
Heap = Annotated[
    str, typer.Option(help="Memory of OpenSearch's Java machine.", metavar="512m|2g", callback=_heap)
]
Workers = Annotated[
    int | None,
    typer.Option(min=0, help="Processes that embed; 0 starts none. Without it: half of the cores."),
]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder of data, logs and programs, kept between runs. Without it: TRIFUSE_HOME."),
]


def register(app: typer.Typer) -> None:
    """Add the three commands."""
    app.command("up")(up_command)
    app.command("down")(down_command)
    app.command("status")(status_command)


def up_command(
    opensearch_port: OpenSearchPort = None,
    redis_port: RedisPort = None,
    heap: Heap = "1g",
    workers: Workers = None,
    data: Data = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Start OpenSearch, Redis and workers on this machine, and leave them running.

    What runs already is left alone. Services that exist are used instead of
    started: name them with --opensearch and --redis. Where workers of one
    encoder run, --encoder adds a worker of another beside them; to have only
    the other, run `trifuse down` first.

    Example: [bold]trifuse up --heap 2g --workers 2[/bold]
    """
    from trifuse.deploy.local.up import Wanted, default_workers, up

    home = home_dir()
    wanted = Wanted(
        home=home,
        data=data.expanduser().resolve() if data else home,
        opensearch_url=opensearch,
        redis_url=redis,
        broker_url=broker,
        opensearch_port=opensearch_port,
        redis_port=redis_port,
        encoder=encoder,
        heap=heap,
        workers=default_workers() if workers is None else workers,
    )
    with _progress() as show, terminable() as check:

        def told(stage: str, done: int, total: int) -> None:
            show(stage, done, total)
            check()

        state, started = up(wanted, progress=told)
    if not started:
        err.print("Everything is up already.")
    _show_status(
        opensearch=state.opensearch_url,
        redis=state.redis_url,
        broker=state.broker_url,
        encoder=state.encoder,
        as_json=as_json,
    )


def down_command(as_json: JsonOption = False) -> None:
    """End what `trifuse up` started; data and logs stay.

    Example: [bold]trifuse down[/bold]
    """
    from trifuse.deploy.local.up import down

    stopped = down(home_dir())
    if as_json:
        emit({"stopped": [{"name": service.name, "pid": service.process.pid} for service in stopped]})
    elif stopped:
        out.print(f"Ended {', '.join(service.name for service in stopped)}. Data and logs stay.")
    else:
        out.print("Nothing that `trifuse up` started is running.")


def status_command(
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Show the services, the workers, and how many documents of each index have their vector.

    Of an index's documents, current have the vector of their text, stale that
    of an older text or another encoder, missing none yet; failed can't be
    embedded, empty have no text. The rate is that of the last minute, and left
    is how long what is pending takes at that rate.

    Of each worker: its tasks of embedding, the documents that got their
    vector, those that can't, the tasks that had to run again, and how long it
    paused because OpenSearch had no room or searches got slow.

    Exit status 1 where something that should run doesn't.

    Example: [bold]trifuse status --json[/bold]
    """
    _show_status(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder, as_json=as_json)


def _show_status(
    *, opensearch: str | None, redis: str | None, broker: str | None, encoder: str | None, as_json: bool
) -> None:
    from trifuse.deploy.local.status import status_of

    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    status = status_of(settings, load_state(home_dir()))
    if as_json:
        emit(status)
    else:
        _tell(status)
    for warning in status.warnings:
        say(warning, "yellow")
    for problem in status.problems:
        say(problem)
    if status.problems:
        raise typer.Exit(1)


def _tell(status: Status) -> None:
    services = Table("service", "where", "process", box=None, pad_edge=False)
    worker = f"{status.workers} on {status.provider}" if status.workers else "none answers"
    rows = {
        "OpenSearch": without_password(status.opensearch_url),
        "Redis": without_password(status.redis_url) if status.redis_url else "none",
        "worker": worker,
    }
    if any(service.name == "beat" for service in status.services):
        rows["beat"] = "sends the sweep"
    for name, where in rows.items():
        ours = [service for service in status.services if service.name == name]
        services.add_row(name, where, _process(ours, exists=name != "worker" or status.workers > 0))
    out.print(services)
    for service in status.services:  # outside of the table, whose width would break a path
        what = f"{service.name} {service.encoder}".rstrip()
        out.print(f"log of {what}: {service.log}", soft_wrap=True, style="dim", markup=False)
    out.print(f"encoder {status.encoder}")
    if status.worker_details:
        out.print()
        out.print(workers_table(status.worker_details))
    if status.indexes:
        out.print()
        out.print(indexes_table(status.indexes))
    for line in failure_lines(status.indexes):
        out.print(line, markup=False, soft_wrap=True)
    for copy in status.copies:
        out.print(copy_line(copy), markup=False, soft_wrap=True)
    for index, interval in status.interrupted_loads.items():
        out.print(
            f"A load of {index} runs or was interrupted: its refresh_interval ({interval or 'the default'})"
            f" comes back with `trifuse sync {index}`.",
            markup=False,
        )


def _process(services: Sequence[ServiceStatus], *, exists: bool) -> str:
    if not services:
        return "not ours" if exists else "-"
    return ", ".join(str(service.pid) if service.running else "ended" for service in services)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A line on stderr for each stage."""
    columns = (
        SpinnerColumn(finished_text="[green]✓[/green]"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns) as progress:
        tasks = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done, total=total)

        yield show
