"""`trifuse study gains`: which queries gain from the click log."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

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
    LeaveOneOutOption,
    QrelsOption,
    QueriesOption,
    check_legs,
    read_judged,
)
from trifuse.deploy.cli.ranking import usage
from trifuse.deploy.cli.study_plots import PlotOption, check_plot, plot_gains
from trifuse.deploy.cli.study_tables import gains_notes, gains_table
from trifuse.deploy.cli.studying import (
    AgainstOption,
    IndexArgument,
    MeasureOption,
    ProfileOption,
    profile_pair,
    run_study,
)
from trifuse.deploy.config import resolve
from trifuse.ranker.evaluation.features import query_features
from trifuse.ranker.evaluation.gains import study_gains


def gains_command(
    index: IndexArgument,
    queries: QueriesOption,
    qrels: QrelsOption,
    profile: ProfileOption = "default",
    against: AgainstOption = None,
    measure: MeasureOption = "nDCG@10",
    frequencies: FrequenciesOption = None,
    leave_one_out: LeaveOneOutOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Which queries gain from the click log: a regression of the gain on nine features.

    The features are those of LADER: length of the query, its segment, how
    spread its similar queries and documents are, how many documents were
    clicked for the similar ones. Each is scaled from its least to its most.

    Example: [bold]trifuse study gains trials --queries q.tsv --qrels qrels.txt --plot gains.png[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    scores: dict[str, array[float]] = {}
    features: dict[str, dict[str, float]] = {}

    def observe(bench: Bench, run: str, query: str, response: Mapping[str, Any]) -> None:
        if run == without.name:  # the first to be ranked
            scores[query] = array("d", (hit["_score"] for hit in response["hits"]["hits"]))
        elif bench.evidence is not None:
            similar = bench.evidence.evidence(bench.queries[query]).queries
            if similar:
                segment = bench.needed_segments()[query]
                features[query] = query_features(bench.queries[query], segment, similar, scores[query])

    with usage():
        check_plot(plot)
        with_log, without = profile_pair(profile, against, opensearch=opensearch)
        study = run_study(
            settings,
            index,
            read_judged(queries, qrels),
            {without.name: without, with_log.name: with_log},
            [measure],
            frequencies=frequencies,
            leave_one_out=leave_one_out,
            observe=observe,
        )
    gains = study_gains(study.evaluation.differences(with_log.name, measure), features)
    if as_json:
        what = {"profile": with_log.name, "against": without.name, "measure": measure}
        emit({**what, **study.as_dict(), **gains.as_dict()})
    else:
        out.print(gains_table(gains, measure))
        print_lines((*gains_notes(gains), *study.notes()))
    if plot is not None:
        title = f"Which queries gain from the click log ({index})"
        plot_gains(plot, gains, title, measure)
    check_legs(study.ranked)
