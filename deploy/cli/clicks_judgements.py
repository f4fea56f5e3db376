"""`trifuse clicks judgements`: relevance judgements from the click log, for `evaluate` and `tune`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from trifuse.deploy.cli.clicks_options import IndexOption, click_store
from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, RedisOption, emit, err
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.worker.clicks.judgements import GRADES, MIN_EXPECTED, Judged, judgements

MinExpectedOption = Annotated[
    float,
    typer.Option(
        "--min-expected",
        min=0.01,
        help="A pair of query and document is judged from so many expected clicks on.",
    ),
]
GradesOption = Annotated[int, typer.Option("--grades", min=1, max=10, help="The highest grade.")]
OutQueriesOption = Annotated[
    Path | None,
    typer.Option("--out-queries", dir_okay=False, help="Write the queries here, as BEIR's JSON lines."),
]


def judgements_command(
    index: IndexOption,
    min_expected: MinExpectedOption = MIN_EXPECTED,
    grades: GradesOption = GRADES,
    out_queries: OutQueriesOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
) -> None:
    """Judge documents by their clicks over the clicks expected where they stood (COEC).

    Grade 1 is clicked as often as what stands at such ranks usually is, or more;
    2 twice as often, 3 four times, and so on; 0 less. Only queries that
    enough visitors clicked for are judged, and only pairs that were shown
    often enough. Judgements go to stdout as TREC's qrels.

    Clicks that a ranking uses can't prove it: [bold]trifuse evaluate[/bold] leaves a
    query's own clicks out of its evidence, unless you say otherwise.

    Example:
    [bold]trifuse clicks judgements --index trials --out-queries queries.jsonl > qrels.tsv[/bold]
    """
    if out_queries is not None and not out_queries.resolve().parent.is_dir():
        raise typer.BadParameter(
            f"there is no folder {str(out_queries.parent)!r}", param_hint="--out-queries"
        )
    settings = resolve(opensearch=opensearch, redis=redis)
    client = require_opensearch(opensearch_client(settings), settings)
    found = judgements(client, click_store(settings), index, min_expected=min_expected, grades=grades)
    counts, unsure, queries, qrels = Counter[int](), 0, {}, {}
    with err.status("reading the click counts"):
        for judged in found:
            unsure += judged.unsure
            if not judged.grades:
                continue
            counts.update(judged.grades.values())
            queries[judged.query] = judged.text
            if as_json:
                qrels[judged.query] = judged.grades
            else:
                sys.stdout.writelines(_lines(judged))
    if out_queries is not None:
        entries = ({"_id": query, "text": text} for query, text in queries.items())
        out_queries.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    if as_json:
        emit({"queries": queries, "qrels": qrels, "unsure": unsure})
    by_grade = ", ".join(f"{counts[grade]:,} of grade {grade}" for grade in sorted(counts, reverse=True))
    err.print(
        f"{counts.total():,} judgements of {len(queries):,} queries: {by_grade}; {unsure:,} documents that "
        "were shown too seldom, or never clicked, are left out",
        soft_wrap=True,
    )


def _lines(judged: Judged) -> Iterator[str]:
    """A query's judgements as TREC's qrels has them, parted by tabs: an id may hold a space."""
    for document, grade in judged.grades.items():
        yield f"{judged.query}\t0\t{document}\t{grade}\n"
