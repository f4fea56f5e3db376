"""`trifuse study segments`: what the click log adds to frequent, less frequent and rare queries."""

from __future__ import annotations

from typing import Annotated

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
    FrequenciesOption,
    LeaveOneOutOption,
    QrelsOption,
    QueriesOption,
    check_legs,
    read_judged,
)
from trifuse.deploy.cli.ranking import usage
from trifuse.deploy.cli.study_plots import PlotOption, check_plot, plot_segments
from trifuse.deploy.cli.study_tables import segments_table
from trifuse.deploy.cli.studying import AgainstOption, IndexArgument, ProfileOption, profile_pair, run_study
from trifuse.deploy.config import resolve
from trifuse.ranker.evaluation.measures import split_names
from trifuse.ranker.evaluation.segment_gains import segment_gains

MEASURES = ("nDCG@10", "RR", "R@10")
"""Those of LADER's table 1."""

MeasuresOption = Annotated[
    list[str] | None,
    typer.Option("--measures", help=f"Names of ir-measures. Without it: {','.join(MEASURES)}."),
]


def segments_command(
    index: IndexArgument,
    queries: QueriesOption,
    qrels: QrelsOption,
    profile: ProfileOption = "default",
    against: AgainstOption = None,
    measures: MeasuresOption = None,
    frequencies: FrequenciesOption = None,
    leave_one_out: LeaveOneOutOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """What the click log adds to HEAD, TORSO and TAIL queries, with tests.

    A query is HEAD where the log has it more than 44 times, TORSO where it
    has it 6 to 44 times, TAIL where less. A query's own clicks are left out
    where the log has some of the queries.

    Example: [bold]trifuse study segments trials --queries q.tsv --qrels qrels.txt --plot segments.png[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    with usage():
        check_plot(plot)
        with_log, without = profile_pair(profile, against, opensearch=opensearch)
        study = run_study(
            settings,
            index,
            read_judged(queries, qrels),
            {without.name: without, with_log.name: with_log},
            split_names(measures or MEASURES),
            frequencies=frequencies,
            leave_one_out=leave_one_out,
        )
    gains = segment_gains(study.evaluation, study.segments)
    if as_json:
        found = {name: {key: each.as_dict() for key, each in row.items()} for name, row in gains.items()}
        emit({"profile": with_log.name, "against": without.name, **study.as_dict(), "segments": found})
    else:
        out.print(segments_table(gains, with_log.name, without.name))
        print_lines(study.notes())
    if plot is not None:
        title = f"What the click log adds, by segment ({index})"
        plot_segments(plot, gains, title, with_log.name, without.name)
    check_legs(study.ranked)
