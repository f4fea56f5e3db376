"""`trifuse sync`: bring an index's vectors up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import (
    COUNTED,
    BrokerOption,
    EncoderOption,
    IndexArgument,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    fail,
    print_lines,
    say,
)
from trifuse.deploy.cli.queueing import queueing
from trifuse.deploy.cli.watching import keep_watch
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.indexer.copying.complete import CopyReport
from trifuse.indexer.progress import Step, Tell
from trifuse.indexer.sync import SyncReport, sync

_SAID = {"skipped": "nothing to do for"}
_BARS = {"copying": "copying to {}", "splitting": "splitting into {}", "embedding": "{}"}

WaitOption = Annotated[bool, typer.Option("--wait", help="Stay until nothing is pending.")]
WatchOption = Annotated[
    bool,
    typer.Option("--watch", help="Go on until Ctrl-C or SIGTERM: whatever changes is queued within seconds."),
]
IntervalOption = Annotated[
    float,
    typer.Option("--interval", min=0.1, max=3600, help="Seconds between two looks, for --watch."),
]
RetryOption = Annotated[
    bool, typer.Option("--retry-failed", help="Try again what failed before and hasn't changed since.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sync")(sync_command)


def sync_command(
    index: IndexArgument,
    wait: WaitOption = False,
    watch: WatchOption = False,
    interval: IntervalOption = 2.0,
    retry_failed: RetryOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Queue what lacks its vector: new, edited, or made by another encoder; lost by a crash or not.

    Also the index's sentences, past queries and unfinished copies. Safe to run at any time; a second run
    writes nothing. With --watch and --json: one JSON object a line, once an interval.

    Example: [bold]trifuse sync trials --wait[/bold], [bold]trifuse sync trials --watch[/bold]
    """
    if watch and (wait or retry_failed):
        raise typer.BadParameter("--watch doesn't end: run --wait or --retry-failed beside it")
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    enqueue, listening = queueing(settings)
    client = require_opensearch(opensearch_client(settings), settings)
    if watch:
        keep_watch(client, index, enqueue, interval_s=interval, listening=listening, as_json=as_json)
        return
    with progress_bars() as step:
        report = sync(
            client,
            index,
            enqueue,
            wait=wait,
            retry_failed=retry_failed,
            listening=listening,
            progress=step,
        )
    if as_json:
        emit({key: getattr(report, key) for key in COUNTED})
    else:
        print_lines([counts_of(report)])
    end_sync(index, report, waited=wait)


def counts_of(report: SyncReport | CopyReport) -> str:
    """What a job says of documents, in one line.

    >>> counts_of(SyncReport(pending=0, embedded=1200, skipped=3, failed=0))
    'pending 0, embedded 1,200, nothing to do for 3, failed 0'
    """
    return ", ".join(f"{_SAID.get(key, key)} {getattr(report, key):,}" for key in COUNTED)


def end_sync(index: str, report: SyncReport, *, waited: bool) -> None:
    """Say what is left, and end with 1 where something failed, or stayed pending that was waited for."""
    if report.stalled:
        say(report.stalled, "red" if waited else "yellow")
    if report.failed:
        fail(
            f"{report.failed:,} documents can't be embedded: the index trifuse-failed says why, and "
            f"`trifuse sync {index} --retry-failed` tries them again"
        )
    if waited and report.pending:
        fail(f"{report.pending:,} documents are still pending")
    if waited and report.stalled:  # sentences, or a copy, whose documents were refused
        raise typer.Exit(1)


@contextmanager
def progress_bars() -> Iterator[Tell]:
    """A bar on stderr for each index that is embedded, split or copied."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Bars(*columns) as progress:
        bars: dict[str, TaskID] = {}
        noted: set[str] = set()

        def step(now: Step) -> None:
            if now.note and now.note not in noted:
                noted.add(now.note)
                say(f"nothing moves yet: {now.note}", "yellow")
            if not now.total:
                return
            name = _BARS[now.doing].format(now.index)
            if name not in bars:
                bars[name] = progress.add_task(name, total=now.total)
            progress.update(bars[name], total=now.total, completed=now.done)

        yield step


class _Rate(ProgressColumn):
    """Documents a second."""

    def render(self, task: Task) -> Text:
        """The present rate, or nothing before the first documents are done."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.0f}/s")
