"""`trifuse evaluate`: how good rankings are by judgements, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trifuse.deploy.cli.common import (
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    out,
)
from trifuse.deploy.cli.evaluation_tables import evaluation_table, notes
from trifuse.deploy.cli.ranking import BodyOption, json_object, read_profile, usage
from trifuse.deploy.config import Settings, opensearch_client, redis_client, resolve
from trifuse.encoder.registry import load_encoder
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import (
    Evaluation,
    Ranked,
    evaluate,
    rank_all,
    read_judgements,
    read_queries,
    run_lines,
)
from trifuse.ranker.evaluation.measures import DEFAULT_MEASURES, largest_cutoff, split_names
from trifuse.ranker.evaluation.overlap import NotingLookup
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.runs import evaluation_depth

IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help="An index, an alias, or a pattern.")]
QueriesOption = Annotated[
    Path,
    typer.Option(
        "--queries",
        exists=True,
        dir_okay=False,
        help="Lines of id, tab, text; or BEIR's JSON lines; or gzip.",
    ),
]
QrelsOption = Annotated[
    Path,
    typer.Option("--qrels", exists=True, dir_okay=False, help="Judgements: TREC's, or BEIR's TSV; or gzip."),
]
ProfilesOption = Annotated[
    list[str] | None,
    typer.Option("--profile", help="Weights, or a JSON file; several are compared with the first."),
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
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Measure rankings by judgements, with 95 % intervals and paired tests.

    Several profiles are compared with the first. Queries without a relevant
    document are left out and counted. Each profile ranks as deep as it says,
    or to the largest cutoff of the measures where that is more. A click log
    that has clicks for the very queries that are evaluated flatters the
    clicks: how many it has is said.

    Example: [bold]trifuse evaluate trials --queries q.tsv --qrels qrels.txt --profile lexical=1[/bold]
    """
    if run_out is not None and not run_out.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(run_out.parent)!r}", param_hint="--run-out")
    names = split_names(measures or DEFAULT_MEASURES)
    with usage():
        template = json_object(body, "--body") or {}
        fill_template(template, "")
        profiles = _named([read_profile(each) for each in profile or (None,)])
        cutoff = largest_cutoff(names)
        depths = {name: evaluation_depth(each, cutoff, limit=limit_depth) for name, each in profiles.items()}
    judged, asked = read_judgements(qrels), read_queries(queries)
    wanted = {query: asked[query] for query in evaluated_queries(judged, asked)}
    ranked: dict[str, Ranked] = {}
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    with (
        _ranker(settings, profiles.values()) as (ranker, clicks),
        usage(),
        _progress(len(profiles) * len(wanted)) as step,
    ):
        for name, each in profiles.items():
            ranked[name] = rank_all(
                ranker, index, wanted, profile=each, depth=depths[name], body=template, progress=step
            )
    runs = {name: each.documents for name, each in ranked.items()}
    if run_out is not None:
        with run_out.open("w", encoding="utf-8") as file:
            file.writelines(run_lines(runs))
    in_log = len(clicks.own) if clicks else 0
    _tell(evaluate(runs, judged, asked, names), ranked, in_log, as_json=as_json)
    _check(ranked)


def _tell(evaluation: Evaluation, ranked: Mapping[str, Ranked], in_log: int, *, as_json: bool) -> None:
    if as_json:
        ranking = {
            "depth": {name: each.depth for name, each in ranked.items()},
            "legs": {name: each.legs for name, each in ranked.items()},
            "in_log": in_log,
        }
        emit(evaluation.as_dict() | ranking)
        return
    out.print(evaluation_table(evaluation))
    for line in notes(evaluation, ranked, in_log):
        out.print(line, markup=False, soft_wrap=True)


def _named(profiles: Sequence[Profile]) -> Mapping[str, Profile]:
    found: dict[str, Profile] = {}
    for profile in profiles:
        if profile.name in found:
            raise ProfileError(
                f"there are two profiles named {profile.name!r}: give each a name of its own in its JSON"
            )
        found[profile.name] = profile
    return found


@contextmanager
def _ranker(
    settings: Settings, profiles: Iterable[Profile]
) -> Iterator[tuple[HybridRanker, NotingLookup | None]]:
    """A ranker with what the profiles' legs need; without its encoder another ranking would be measured."""
    needed = any(profile.weights["dense"] > 0 or profile.weights["clicks"] > 0 for profile in profiles)
    encoder = load_encoder(settings.encoder) if needed else None
    client = opensearch_client(settings)
    try:
        clicks = NotingLookup(ClickStore(redis_client(settings), client)) if settings.redis_url else None
        yield HybridRanker(client, encoder, clicks), clicks
    finally:
        client.close()


def _check(ranked: Mapping[str, Ranked]) -> None:
    """End with status 1 where a leg failed: the measures are too low."""
    for name, each in ranked.items():
        for leg, count in each.failed.items():
            fail(
                f"the profile {name!r} was measured too low: {leg} failed in {count} of "
                f"{len(each.documents)} queries ({each.reasons[leg]})"
            )


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    columns = (TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("searching", total=total)
        yield lambda: progress.advance(task)
