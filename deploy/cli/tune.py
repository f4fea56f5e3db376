"""`trifuse tune`: weights and settings chosen by judgements, with held-out numbers, and served by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import platformdirs
import typer

from trifuse.deploy.cli.common import (
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    out,
    print_lines,
)
from trifuse.deploy.cli.evaluating import (
    Bench,
    IndexArgument,
    LeaveOneOutOption,
    QrelsOption,
    QueriesOption,
    open_bench,
    read_judged,
    searching,
)
from trifuse.deploy.cli.ranking import (
    BodyOption,
    check_template,
    json_object,
    profile_store,
    read_profile,
    usage,
)
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.config import resolve
from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError, RankerError
from trifuse.ranker.evaluation.inputs import read_ids
from trifuse.ranker.profiles.versions import ProfileVersion, check_name
from trifuse.ranker.tuning import Collected, Measure, Space, Tuning, collect, tune
from trifuse.ranker.tuning.selection import parted
from trifuse.ranker.tuning.tuner import SEARCHES, TRIALS, check_search

MeasureOption = Annotated[
    str, typer.Option("--measure", help="What to maximise: nDCG@10, RR, P@5, R@100, AP, ...")
]
BaselineOption = Annotated[
    str | None,
    typer.Option("--baseline", help="The profile to beat: a name, weights, or a file. Without it: default."),
]
DepthOption = Annotated[
    list[int] | None,
    typer.Option("--depth", min=1, help="Hits taken from each leg; several are tried. Else the baseline's."),
]
FoldsOption = Annotated[int, typer.Option("--folds", min=2, help="Parts that are held out in turn.")]
SplitOption = Annotated[
    Path | None,
    typer.Option(
        "--split",
        exists=True,
        dir_okay=False,
        help="Ids of the queries to hold out, one a line, in the place of folds.",
    ),
]
SearchOption = Annotated[
    str, typer.Option("--search", help=f"{', '.join(SEARCHES)} (optuna needs the extra tune).")
]
TrialsOption = Annotated[
    int | None,
    typer.Option(
        "--trials", min=1, help=f"Settings of random ({TRIALS['random']}) or optuna ({TRIALS['optuna']})."
    ),
]
BySegmentOption = Annotated[
    bool, typer.Option("--by-segment", help="Also try a weight of clicks for each of HEAD, TORSO and TAIL.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of the folds and of the search.")]
SaveOption = Annotated[
    str | None, typer.Option("--save", metavar="NAME", help="Store the best as a profile of that name.")
]
NoteOption = Annotated[str | None, typer.Option("--note", help="Why, for who reads the profile's history.")]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache", file_okay=False, help="Where hits are kept until the index changes. Else the user's cache."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune_command)


def tune_command(
    index: IndexArgument,
    queries: QueriesOption,
    qrels: QrelsOption,
    body: BodyOption = None,
    measure: MeasureOption = "nDCG@10",
    baseline: BaselineOption = None,
    depth: DepthOption = None,
    folds: FoldsOption = 5,
    split: SplitOption = None,
    search: SearchOption = "grid",
    trials: TrialsOption = None,
    by_segment: BySegmentOption = False,
    seed: SeedOption = 0,
    save: SaveOption = None,
    note: NoteOption = None,
    plot: PlotOption = None,
    cache: CacheOption = None,
    leave_one_out: LeaveOneOutOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Choose weights, normalization and combination by judgements, and say what that is worth.

    Each query's legs (lexical, dense, clicks) are searched once, with your own
    body; then a thousand settings are scored without searching again. The
    number to trust is [bold]held out[/bold]: each part of the queries is measured by
    settings that were chosen without it, and compared with the baseline on the
    same queries. What is chosen on all queries is stored with [bold]--save[/bold], body
    included, and served by [bold]--profile NAME[/bold], without a restart.

    Read the cautions: few judgements can't tell settings apart, and documents
    that nobody judged count as not relevant.

    Example: [bold]trifuse tune trials --queries q.tsv --qrels qrels.txt --body body.json --save mine[/bold]
    """
    check_plot(plot)
    with usage():
        if save is not None:
            check_name(save)
        elif note is not None:
            raise ProfileError("--note is the note of a stored profile: name one with --save")
        Measure.parse(measure)
        check_search(search)
        base = read_profile(baseline, opensearch=opensearch)
        given = json_object(body, "--body")
        template = base.body if given is None else given
        check_template(template, "--body" if given is not None else f"the profile {base.name!r}")
    judged = read_judged(queries, qrels)
    held_out = read_ids(split) if split is not None else None
    parted(list(judged.wanted), folds, held_out, seed)  # refused before the searches, not after
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    depths = tuple(sorted(set(depth or [base.depth])))
    folder = cache or platformdirs.user_cache_path("trifuse") / "tune"
    with open_bench(settings, index, judged.wanted, [Profile()], leave_one_out=leave_one_out) as bench:
        with usage(), searching(len(bench.queries)) as step:
            collected = collect(
                bench.ranker,
                index,
                bench.queries,
                profile=base,
                depth=max([base.depth, *depths]),
                body=template,
                leave_one_out=bench.leave_one_out,
                cache=folder,
                progress=step,
            )
        with usage(), err.status("scoring settings"):
            tuned = tune(
                collected,
                judged.qrels,
                measure=measure,
                baseline=base,
                folds=folds,
                split=held_out,
                search=search,
                trials=trials,
                space=Space(depths=depths),
                segments=by_segment,
                seed=seed,
            )
    excluded = len(judged.asked) - len(judged.wanted)
    if plot is not None:
        tuned.plot(plot)
    saved, fault = None, None
    try:
        saved = _save(tuned, save, note, opensearch) if save is not None else None
    except RankerError as error:  # what was found is shown all the same
        fault = str(error)
    if as_json:
        emit(_json(tuned, collected, bench, saved, excluded))
    else:
        out.print(tuned)
        print_lines((*_notes(collected, saved, excluded), *bench.notes()))
    if fault is not None:
        fail(f"the profile {save!r} wasn't stored: {fault}")


def _save(tuned: Tuning, name: str, note: str | None, opensearch: str | None) -> ProfileVersion:
    found = tuned.as_dict()
    evidence = {
        key: found[key]
        for key in ("measure", "heldout", "baseline", "difference", "p_value", "queries", "settings_tried")
    }
    note = note or (
        f"tuned: {tuned.measure} {tuned.heldout.mean:.4f} held out on {len(tuned.per_query)} queries, "
        f"{tuned.against} {tuned.baseline.mean:.4f} (p = {tuned.p_value:.3g})"
    )
    with profile_store(opensearch) as store:
        return store.set(replace(tuned.profile, name=name), note=note, evidence=evidence)


def _json(
    tuned: Tuning, collected: Collected, bench: Bench, saved: ProfileVersion | None, excluded: int
) -> dict[str, Any]:
    return {
        **tuned.as_dict(),
        **bench.as_dict(),
        "excluded": excluded,
        "legs": collected.states,
        "reasons": collected.reasons,
        "saved": {"name": saved.name, "version": saved.version} if saved else None,
    }


def _notes(collected: Collected, saved: ProfileVersion | None, excluded: int) -> Iterator[str]:
    if excluded:
        yield f"{excluded} queries without a relevant document were left out"
    for leg, reason in collected.reasons.items():
        if "off" in collected.states[leg]:
            yield f"{leg} isn't there to run: {reason}"
    if saved:
        yield f"stored as {saved.name}@{saved.version}: serve it with --profile {saved.name}"
