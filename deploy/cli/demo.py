"""`trifuse demo`: the whole path on a bundled sample, or on files of one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
)

SAMPLE_INDEX = "demo"
DATA_INDEX = "demo-data"
DATA_LIMIT = 500

DataOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        exists=True,
        help="A file, folder or zip of trials, instead of the sample; may be given several times.",
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option(
        help="What to search for. Without it: what the sample is made for, or a frequent condition."
    ),
]
IndexOption = Annotated[
    str | None,
    typer.Option(help=f"The index. Without it: {SAMPLE_INDEX}, or {DATA_INDEX} with --data."),
]
LimitOption = Annotated[
    int | None,
    typer.Option(min=1, help=f"Load so many records at most. Without it: {DATA_LIMIT} with --data."),
]
SentencesOption = Annotated[
    int, typer.Option(min=0, max=100, help="Give the sentences of the so many best trials vectors too.")
]
DownOption = Annotated[
    bool,
    typer.Option("--down/--keep", help="Stop the local services at the end, or keep them for more searches."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo_command)


def demo_command(
    data: DataOption = None,
    query: QueryOption = None,
    index: IndexOption = None,
    limit: LimitOption = None,
    sentences: SentencesOption = 8,
    down: DownOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Start real services, load and embed trials, and rank a query by BM25, by vectors, by clicks and by all.

    The sample is fictional and comes with trifuse. With --data the same happens to real files.

    Example: [bold]trifuse demo --data studies.json --query "asthma in children"[/bold]
    """
    from trifuse.deploy.demo.narrator import Narrator
    from trifuse.deploy.demo.run import Wanted, run, stop

    wanted = Wanted(
        index=index or (DATA_INDEX if data else SAMPLE_INDEX),
        data=tuple(data or ()),
        query=query,
        limit=limit or (DATA_LIMIT if data else None),
        sentences=sentences,
        opensearch=opensearch,
        redis=redis,
        broker=broker,
        encoder=encoder,
    )
    narrator = Narrator(sys.stderr if as_json else sys.stdout)
    try:
        report = run(wanted, narrator)
    finally:
        if down:
            stop(narrator)
    if as_json:
        emit(report)
    if report.load["rejected"] or report.counts["failed"]:
        raise typer.Exit(1)
