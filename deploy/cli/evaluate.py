"""`trifuse evaluate`: how good rankings are by judgements, with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import (
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    out,
    print_lines,
)
from trifuse.deploy.cli.evaluating import (
    Bench,
    FrequenciesOption,
    IndexArgument,
    LeaveOneOutOption,
    QrelsOption,
    QueriesOption,
    check_legs,
    open_bench,
    read_judged,
    searching,
)
from trifuse.deploy.cli.evaluation_tables import evaluation_table, moved_tables, notes
from trifuse.deploy.cli.ranking import BodyOption, json_object, read_profile, usage
from trifuse.deploy.config import resolve
from trifuse.ranker import Profile
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import Evaluation, Ranked, evaluate, run_lines
from trifuse.ranker.evaluation.measures import DEFAULT_MEASURES, largest_cutoff, split_names
from trifuse.ranker.evaluation.report import by_segment as split_by_segment
from trifuse.ranker.evaluation.runs import evaluation_depth

ProfilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        help="A name, NAME@VERSION, weights, or a JSON file; several are compared with the first. "
        "Without it: default.",
    ),
]
MeasuresOption = Annotated[
    list[str] | None,
    typer.Option("--measures", help=f"Names of ir-measures. Without it: {','.join(DEFAULT_MEASURES)}."),
]
RunOption = Annotated[
    Path | None, typer.Option("--run-out", dir_okay=False, help="Write the rankings here, as TREC runs.")
]
LimitOption = Annotated[
    bool,
    typer.Option("--limit-depth", help="Rank no deeper than the profile, though a measure looks further."),
]
BySegmentOption = Annotated[
    bool, typer.Option("--by-segment", help="Show a table for each of HEAD, TORSO and TAIL as well.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate_command)


def evaluate_command(
    index: IndexArgument,
    queries: QueriesOption,
    qrels: QrelsOption,
    body: BodyOption = None,
    profile: ProfilesOption = None,
    measures: MeasuresOption = None,
    run_out: RunOption = None,
    limit_depth: LimitOption = False,
    by_segment: BySegmentOption = False,
    frequencies: FrequenciesOption = None,
    leave_one_out: LeaveOneOutOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Measure rankings by judgements, with 95 % intervals and paired tests.

    Several profiles, or versions of one, are compared with the first. Queries
    without a relevant document are left out and counted. Each profile ranks
    as deep as it says, or to the largest cutoff of the measures where that is
    more.

    A click log that has clicks for the very queries that are evaluated would
    flatter the clicks: a query's own are left out unless you say otherwise.
    By the log a query is HEAD (more than 44 times in it), TORSO (6 to 44) or
    TAIL (less); [bold]--by-segment[/bold] shows each, the JSON always has them.

    Example: [bold]trifuse evaluate trials --queries q.tsv --qrels qrels.txt --profile lexical=1[/bold]
    """
    if run_out is not None and not run_out.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(run_out.parent)!r}", param_hint="--run-out")
    names = split_names(measures or DEFAULT_MEASURES)
    with usage():
        template = json_object(body, "--body")
        fill_template(template, "")
        profiles = _named([read_profile(each, opensearch=opensearch) for each in profile or (None,)])
        cutoff = largest_cutoff(names)
        depths = {name: evaluation_depth(each, cutoff, limit=limit_depth) for name, each in profiles.items()}
    judged = read_judged(queries, qrels)
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    ranked: dict[str, Ranked] = {}
    with open_bench(
        settings,
        index,
        judged.wanted,
        profiles.values(),
        frequencies=frequencies,
        leave_one_out=leave_one_out,
    ) as bench:
        if by_segment:
            bench.needed_segments()
        with usage(), searching(len(profiles) * len(judged.wanted)) as step:
            for name, each in profiles.items():
                ranked[name] = bench.rank(each, depths[name], body=template, progress=step)
    runs = {name: each.documents for name, each in ranked.items()}
    if run_out is not None:
        with run_out.open("w", encoding="utf-8") as file:
            file.writelines(run_lines(runs))
    evaluation = evaluate(runs, judged.qrels, judged.asked, names)
    shown = bench.segments if as_json or by_segment else None
    segments = split_by_segment(evaluation, shown) if shown else {}
    if as_json:
        emit(_json(evaluation, segments, ranked, bench))
    else:
        _print(evaluation, segments, ranked, bench)
    check_legs(ranked)


def _json(
    evaluation: Evaluation, segments: Mapping[str, Evaluation], ranked: Mapping[str, Ranked], bench: Bench
) -> dict[str, Any]:
    return {
        **evaluation.as_dict(),
        **bench.as_dict(),
        "segments": {name: each.as_dict(per_query=False) for name, each in segments.items()},
        "depth": {name: each.depth for name, each in ranked.items()},
        "legs": {name: each.legs for name, each in ranked.items()},
    }


def _print(
    evaluation: Evaluation, segments: Mapping[str, Evaluation], ranked: Mapping[str, Ranked], bench: Bench
) -> None:
    out.print(evaluation_table(evaluation))
    for name, each in segments.items():
        out.print(evaluation_table(each, title=f"{name}: {each.queries} queries"))
    for table in moved_tables(evaluation, bench.queries):
        out.print(table)
    print_lines((*notes(evaluation, ranked), *bench.notes()))


def _named(profiles: Sequence[Profile]) -> Mapping[str, Profile]:
    found: dict[str, Profile] = {}
    for profile in profiles:
        if profile.name in found:
            raise ProfileError(
                f"there are two profiles named {profile.name!r}: give each a name of its own in its JSON"
            )
        found[profile.name] = profile
    return found
