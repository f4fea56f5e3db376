"""What the studies have in common: a profile with the click log and one without, ranked and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import fail, index_name
from trifuse.deploy.cli.evaluating import Bench, Judged, depths_of, open_bench
from trifuse.deploy.cli.ranking import read_profile
from trifuse.deploy.config import Settings
from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import Evaluation, Ranked, evaluate
from trifuse.ranker.evaluation.report_tables import notes

IndexArgument = Annotated[
    str,
    typer.Argument(metavar="INDEX", help="The index, or alias, that was clicked on.", callback=index_name),
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile", help="With the click log: a name (lader: the paper's), weights, or a JSON file."
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option("--against", help="What it is compared with. Without it: the same without the clicks."),
]
MeasureOption = Annotated[str, typer.Option("--measure", help="A name of ir-measures.")]


def profile_pair(
    given: str, against: str | None, *, opensearch: str | None = None
) -> tuple[Profile, Profile]:
    """The profile with the log, and the one without.

    Args:
        opensearch: as `read_profile`.

    Raises:
        ProfileError: there is no click leg to study, or nothing to compare it with.
    """
    profile = read_profile(given, opensearch=opensearch)
    if profile.weights["clicks"] == 0:
        raise ProfileError(
            f"the profile {profile.name!r} gives clicks no weight, so there is nothing to study: give one "
            "that does, such as default"
        )
    other = without_clicks(profile) if against is None else read_profile(against, opensearch=opensearch)
    if other.name == profile.name:
        raise ProfileError(f"{profile.name!r} is compared with itself: name another with --against")
    return profile, other


def without_clicks(profile: Profile) -> Profile:
    """The same ranking without the click leg: `lader` becomes `lader-no-log`.

    Raises:
        ProfileError: no other leg has a weight.
    """
    weights = {**profile.weights, "clicks": 0.0}
    if not any(weights.values()):
        raise ProfileError(
            f"the profile {profile.name!r} ranks by clicks alone: name what it is compared with by --against"
        )
    return replace(profile, name=f"{profile.name}-no-log", weights=weights)


@dataclass(frozen=True)
class Study:
    """Runs over the same queries, the first of them without the click log.

    Args:
        segments: query to segment, of each evaluated query.
    """

    bench: Bench
    ranked: Mapping[str, Ranked]
    evaluation: Evaluation
    segments: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """What was studied, for JSON."""
        return {
            "queries": self.evaluation.queries,
            "excluded": self.evaluation.excluded,
            **self.bench.as_dict(),
            "depth": {name: each.depth for name, each in self.ranked.items()},
            "legs": {name: each.legs for name, each in self.ranked.items()},
        }

    def notes(self) -> Iterator[str]:
        """What must be known to read the tables."""
        *_, (name, last) = self.ranked.items()
        found = last.legs["clicks"].get("ok", 0)
        yield f"{name}: the log had something for {found} of {len(last.documents)} queries"
        yield from notes(self.evaluation, self.ranked)
        yield from self.bench.notes()


def run_study(
    settings: Settings,
    index: str,
    judged: Judged,
    profiles: Mapping[str, Profile],
    measures: Sequence[str],
    *,
    frequencies: Path | None = None,
    leave_one_out: bool | None = None,
    observe: Callable[[Bench, str, str, Mapping[str, Any]], None] | None = None,
) -> Study:
    """Rank every query by every profile, and compare the runs with the first.

    Args:
        profiles: run to profile.
        frequencies, leave_one_out: as `open_bench`.
        observe: as `Bench.rank_each`.

    Raises:
        ProfileError: a measure looks further than OpenSearch ranks.
    """
    depths = depths_of(profiles, measures)
    with open_bench(
        settings,
        index,
        judged.wanted,
        profiles.values(),
        frequencies=frequencies,
        leave_one_out=leave_one_out,
    ) as bench:
        need_log(bench)
        segments = bench.needed_segments()
        ranked = bench.rank_each(profiles, depths, observe=observe)
    runs = {name: each.documents for name, each in ranked.items()}
    evaluation = evaluate(runs, judged.qrels, judged.asked, measures)
    return Study(bench, ranked, evaluation, segments)


def need_log(bench: Bench) -> None:
    """End the command where there is no click store: a study without one says nothing."""
    if bench.evidence is None:
        fail("a study needs the click log: name the click store with --redis, or run `trifuse up`")
