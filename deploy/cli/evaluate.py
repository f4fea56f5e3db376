"""`trifuse evaluate`: how good rankings are by judgements, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    depths_of,
    open_bench,
    read_judged,
)
from trifuse.deploy.cli.ranking import BodyOption, check_template, json_object, read_profile, usage
from trifuse.deploy.cli.report_file import require_not_read
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.config import Settings, opensearch_client, require_opensearch, resolve
from trifuse.indexer.reembed.standing import Candidate, candidate_of
from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import Evaluation, evaluate, read_runs, run_lines
from trifuse.ranker.evaluation.explaining import Legs, explanations, moved_queries
from trifuse.ranker.evaluation.explanation_tables import explanation_tables
from trifuse.ranker.evaluation.measures import DEFAULT_MEASURES, split_names
from trifuse.ranker.evaluation.per_query import write_per_query
from trifuse.ranker.evaluation.report import by_segment as split_by_segment
from trifuse.ranker.evaluation.report_tables import evaluation_table, moved_tables, notes, segment_tables
from trifuse.ranker.evaluation.run_files import Run

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
RunsInOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--run-in",
        exists=True,
        dir_okay=False,
        help="Another system's rankings, as TREC's runs, named by their tags; profiles are compared with the "
        "first.",
    ),
]
RunOption = Annotated[
    Path | None, typer.Option("--run-out", dir_okay=False, help="Write the rankings here, as TREC's runs.")
]
PerQueryOption = Annotated[
    Path | None,
    typer.Option("--per-query", dir_okay=False, help="Write each query's values here, parted by tabs."),
]
LimitOption = Annotated[
    bool,
    typer.Option("--limit-depth", help="Rank no deeper than the profile, though a measure looks further."),
]
BySegmentOption = Annotated[
    bool, typer.Option("--by-segment", help="Show a table for each of HEAD, TORSO and TAIL as well.")
]
ExplainOption = Annotated[
    int,
    typer.Option(
        "--explain",
        min=0,
        help="Of the queries that move most, show so many first documents by both profiles, and by which "
        "legs they came.",
    ),
]


CandidateOption = Annotated[
    bool,
    typer.Option(
        "--candidate", help="Compare what is served with what `trifuse reembed --no-switch` has prepared."
    ),
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
    run_in: RunsInOption = None,
    run_out: RunOption = None,
    per_query: PerQueryOption = None,
    limit_depth: LimitOption = False,
    by_segment: BySegmentOption = False,
    explain: ExplainOption = 0,
    candidate: CandidateOption = False,
    plot: PlotOption = None,
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
    more. With [bold]--candidate[/bold] one profile is ranked twice: in the space that is
    served, and in the one that is being prepared, each with its own encoder.

    A click log that has clicks for the very queries that are evaluated would
    flatter the clicks: a query's own are left out unless you say otherwise.
    By the log a query is HEAD (more than 44 times in it), TORSO (6 to 44) or
    TAIL (less); [bold]--by-segment[/bold] shows each, the JSON always has them.

    Example: [bold]trifuse evaluate trials --queries q.tsv --qrels qrels.txt --profile lexical=1[/bold]
    """
    _check_folder(run_out, "--run-out")
    _check_folder(per_query, "--per-query")
    read = [queries, qrels, *(run_in or ()), *([frequencies] if frequencies else ())]
    require_not_read(run_out, "--run-out", read)
    require_not_read(per_query, "--per-query", read)
    check_plot(plot)
    names = split_names(measures or DEFAULT_MEASURES)
    with usage():
        template = json_object(body, "--body")
        check_template(template, "--body")
        profiles = _named([read_profile(each, opensearch=opensearch) for each in profile or (None,)])
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    prepared = _prepared(settings, index, profiles) if candidate else None
    if prepared is not None:
        (served,) = profiles.values()
        other = replace(served, name=f"{served.name}+candidate", vector_field=prepared.field)
        profiles = {served.name: served, other.name: other}
    with usage():
        depths = depths_of(profiles, names, limit=limit_depth)
        judged = read_judged(queries, qrels)
        given = _read_runs(run_in or (), profiles)
    with open_bench(
        settings,
        index,
        judged.wanted,
        profiles.values(),
        frequencies=frequencies,
        leave_one_out=leave_one_out,
        elsewhere=None if prepared is None else {other.name: prepared.index},
    ) as bench:
        if by_segment:
            bench.needed_segments()
        with usage():
            ranked = bench.rank_each(profiles, depths, body=template)
        own = {name: each.documents for name, each in ranked.items()}
        runs = {**given, **own}
        evaluation = evaluate(runs, judged.qrels, judged.asked, names)
        legs = _legs(bench, evaluation, profiles, depths, template) if explain else {}
    explained = list(explanations(evaluation, runs, legs, judged.qrels, explain)) if explain else []
    if run_out is not None:
        with run_out.open("w", encoding="utf-8") as file:
            file.writelines(run_lines(own))
    if per_query is not None:
        with per_query.open("w", encoding="utf-8", newline="") as file:
            write_per_query(evaluation, file)
    if plot is not None:
        evaluation.plot(plot)
    shown = bench.segments if as_json or by_segment else None
    segments = split_by_segment(evaluation, shown) if shown else {}
    if as_json:
        emit(
            {
                **evaluation.as_dict(),
                **bench.as_dict(),
                **({} if prepared is None else {"candidate": prepared}),
                "segments": {name: each.as_dict(per_query=False) for name, each in segments.items()},
                "depth": depths,
                "legs": {name: each.legs for name, each in ranked.items()},
                "explanations": [each.as_dict() for each in explained],
            }
        )
    else:
        for table in (
            evaluation_table(evaluation),
            *segment_tables(segments),
            *moved_tables(evaluation),
            *explanation_tables(explained),
        ):
            out.print(table)
        print_lines(
            (
                *notes(evaluation, ranked),
                *_lacking(given, judged.wanted),
                *bench.notes(),
                *_incomplete(prepared),
            )
        )
    check_legs(ranked)


def _prepared(settings: Settings, index: str, profiles: Mapping[str, Profile]) -> Candidate:
    """The vectors that what is served is compared with."""
    if len(profiles) > 1:
        raise typer.BadParameter("one profile is ranked in both spaces", param_hint="--candidate")
    client = require_opensearch(opensearch_client(settings), settings)
    try:
        return candidate_of(client, index)
    finally:
        client.close()


def _incomplete(prepared: Candidate | None) -> Iterator[str]:
    """That the candidate was measured too low."""
    if prepared is not None and prepared.pending:
        yield (
            f"{prepared.pending:,} documents wait for their vector of {prepared.encoder!r}: the candidate is "
            "better than it was measured"
        )


def _legs(
    bench: Bench,
    evaluation: Evaluation,
    profiles: Mapping[str, Profile],
    depths: Mapping[str, int],
    body: Mapping[str, Any] | None,
) -> dict[str, dict[str, dict[str, Legs]]]:
    """Profile to query to document to what each leg gave it: what moved most is searched again."""
    found: dict[str, dict[str, dict[str, Legs]]] = {}

    def observe(bench: Bench, run: str, query: str, response: Mapping[str, Any]) -> None:
        hits = response["hits"]["hits"]
        found.setdefault(run, {})[query] = {hit["_id"]: hit["trifuse"]["legs"] for hit in reversed(hits)}

    for name, moved in moved_queries(evaluation).items():
        if name in profiles and moved:
            some = replace(bench, queries={query: bench.queries[query] for query in moved})
            some.rank_each({name: profiles[name]}, depths, body=body, observe=observe)
    return found


def _read_runs(paths: Sequence[Path], profiles: Mapping[str, Profile]) -> dict[str, Run]:
    found: dict[str, Run] = {}
    for path in paths:
        for name, run in read_runs(path).items():
            if name in found or name in profiles:
                raise ProfileError(
                    f"{path}: another run or profile is named {name!r}: change the tag, in the last column"
                )
            found[name] = run
    return found


def _named(profiles: Sequence[Profile]) -> Mapping[str, Profile]:
    found: dict[str, Profile] = {}
    for profile in profiles:
        if profile.name in found:
            raise ProfileError(
                f"there are two profiles named {profile.name!r}: give each a name of its own in its JSON"
            )
        found[profile.name] = profile
    return found


def _check_folder(path: Path | None, option: str) -> None:
    if path is not None and not path.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}", param_hint=option)


def _lacking(given: Mapping[str, Run], queries: Mapping[str, str]) -> Iterator[str]:
    """That runs from files don't have all the queries."""
    for name, run in given.items():
        if count := sum(query not in run for query in queries):
            yield f"{name} has no ranking for {count} of {len(queries)} queries: they count as 0"
