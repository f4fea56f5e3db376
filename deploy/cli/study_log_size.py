"""`trifuse study log-size`: how good rankings are with a growing share of the click log."""

from __future__ import annotations

from dataclasses import asdict
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
from trifuse.deploy.cli.study_plots import PlotOption, check_plot, plot_log_size
from trifuse.deploy.cli.study_tables import log_size_table
from trifuse.deploy.cli.studying import (
    AgainstOption,
    IndexArgument,
    MeasureOption,
    ProfileOption,
    profile_pair,
    run_study,
)
from trifuse.deploy.config import resolve
from trifuse.ranker.evaluation.log_size import parse_shares, share_runs, size_lines

SharesOption = Annotated[str, typer.Option("--shares", help="Percents of the log's past queries.")]


def log_size_command(
    index: IndexArgument,
    queries: QueriesOption,
    qrels: QrelsOption,
    profile: ProfileOption = "default",
    against: AgainstOption = None,
    measure: MeasureOption = "nDCG@10",
    shares: SharesOption = "10,20,30,40,50,60,70,80,90,100",
    frequencies: FrequenciesOption = None,
    leave_one_out: LeaveOneOutOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """How good rankings are with 10 % to all of the click log, by segment.

    Where the line still rises at the right, more log would help. A past query
    that is in one share is in all larger ones; which ones those are is one
    draw, and the intervals are over the evaluated queries alone.

    Example: [bold]trifuse study log-size trials --queries q.tsv --qrels qrels.txt --plot size.png[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    with usage():
        check_plot(plot)
        with_log, without = profile_pair(profile, against, opensearch=opensearch)
        study = run_study(
            settings,
            index,
            read_judged(queries, qrels),
            share_runs(with_log, without, parse_shares(shares)),
            [measure],
            frequencies=frequencies,
            leave_one_out=leave_one_out,
        )
    lines = size_lines(study.evaluation, study.segments, measure)
    if as_json:
        found = {name: [asdict(point) for point in line] for name, line in lines.items()}
        what = {"profile": with_log.name, "against": without.name, "measure": measure}
        emit({**what, **study.as_dict(), "segments": found})
    else:
        out.print(log_size_table(lines, measure, with_log.name))
        print_lines(study.notes())
    if plot is not None:
        plot_log_size(plot, lines, f"{with_log.name} by the size of the click log ({index})", measure)
    check_legs(study.ranked)
