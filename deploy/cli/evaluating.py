"""What the commands that measure rankings have in common: their inputs, the ranker, and the click log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from redis import Redis
from redis.exceptions import RedisError
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import fail
from trifuse.deploy.cli.query_encoder import query_encoder
from trifuse.deploy.config import Settings, opensearch_client, redis_client, require_opensearch
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.evaluation import Judgements, Queries, Ranked, rank_all, read_judgements, read_queries
from trifuse.ranker.evaluation.frequencies import log_frequencies, of_queries, query_segments
from trifuse.ranker.evaluation.inputs import read_frequencies
from trifuse.ranker.evaluation.measures import largest_cutoff
from trifuse.ranker.evaluation.recording import RecordingLookup
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.runs import evaluation_depth

REDIS_TIMEOUT_S = 30.0
"""Quality is measured, not speed."""

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
FrequenciesOption = Annotated[
    Path | None,
    typer.Option(
        "--frequencies",
        exists=True,
        dir_okay=False,
        help="Lines of id, tab, how often the log has the query, or HEAD, TORSO, TAIL: for a log without it.",
    ),
]
LeaveOneOutOption = Annotated[
    bool | None,
    typer.Option(
        "--leave-one-out/--no-leave-one-out",
        help="Leave a query's own clicks out. Without it: on where the log has some of the queries.",
    ),
]


@dataclass(frozen=True)
class Judged:
    """Queries with their judgements.

    Args:
        asked: all queries, id to text.
        wanted: those of them that have a relevant document.
    """

    qrels: Judgements
    asked: Queries
    wanted: Queries


def read_judged(queries: Path, qrels: Path) -> Judged:
    """Both files.

    Raises:
        UnreadableInput: one of them can't be read.
        NothingToEvaluate: no query has a relevant document.
    """
    judged, asked = read_judgements(qrels), read_queries(queries)
    return Judged(judged, asked, {query: asked[query] for query in evaluated_queries(judged, asked)})


@dataclass(frozen=True)
class Bench:
    """A ranker over an index, and the queries that are measured on it.

    Args:
        queries: id to text.
        evidence: passes on what the click log says of a query; None without a click log.
        in_log: how many of the queries the log has itself; None where it couldn't be asked.
        log_error: why not.
        leave_one_out: whether a query's own clicks are left out.
        segments: query id to segment; None where neither the log nor a file says it.
        elsewhere: a profile's name to the index that it ranks, where that is another.
    """

    ranker: HybridRanker
    index: str
    queries: Queries
    evidence: RecordingLookup | None
    in_log: int | None
    log_error: str | None
    leave_one_out: bool
    segments: Mapping[str, str] | None
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def rank(self, profile: Profile, depth: int, **how: Any) -> Ranked:
        """Rank every query; what else `rank_all` takes goes through."""
        return rank_all(
            self.ranker,
            self.elsewhere.get(profile.name, self.index),
            self.queries,
            profile=profile,
            depth=depth,
            leave_one_out=self.leave_one_out,
            **how,
        )

    def rank_each(
        self,
        profiles: Mapping[str, Profile],
        depths: Mapping[str, int],
        *,
        body: Mapping[str, Any] | None = None,
        observe: Callable[[Bench, str, str, Mapping[str, Any]], None] | None = None,
    ) -> dict[str, Ranked]:
        """Rank every query by every profile, while a bar says how far that is.

        Args:
            profiles: run to profile.
            depths: run to how deep it ranks.
            observe: called with this, a run's name, a query's id, and the response to it.
        """
        with searching(len(profiles) * len(self.queries)) as step:
            return {
                name: self.rank(
                    profile,
                    depths[name],
                    body=body,
                    progress=step,
                    observe=partial(observe, self, name) if observe else None,
                )
                for name, profile in profiles.items()
            }

    def needed_segments(self) -> Mapping[str, str]:
        """The segments; the command ends where nothing says them."""
        if self.segments is None:
            fail(
                f"the segments of the queries aren't known ({self.log_error or 'there is no click store'}): "
                "name one with --redis, or give how often the log has each query with --frequencies"
            )
        return self.segments

    def as_dict(self) -> dict[str, Any]:
        """How the click log was used, for JSON."""
        return {"leave_one_out": self.leave_one_out, "in_log": self.in_log}

    def notes(self) -> Iterator[str]:
        """How the click log was used, for people."""
        if self.in_log is None:
            yield f"whether the click log has these queries itself isn't known: {self.log_error}"
        elif self.in_log and self.leave_one_out:
            yield (
                f"the click log has {self.in_log} of these queries itself: their own clicks were left out "
                "(--no-leave-one-out counts them)"
            )
        elif self.in_log:
            yield (
                f"the click log has {self.in_log} of these queries itself: that flatters the profiles with "
                "clicks (--leave-one-out leaves their own out)"
            )


def depths_of(
    profiles: Mapping[str, Profile], measures: Sequence[str], *, limit: bool = False
) -> dict[str, int]:
    """Run to how deep it is ranked: as its profile says, or as the measures look where that is more.

    Args:
        limit: no deeper than the profile says.

    Raises:
        MeasureUnknown: there is no such measure.
        ProfileError: a measure looks further than OpenSearch ranks.
    """
    cutoff = largest_cutoff(measures)
    return {name: evaluation_depth(each, cutoff, limit=limit) for name, each in profiles.items()}


@contextmanager
def open_bench(
    settings: Settings,
    index: str,
    queries: Queries,
    profiles: Iterable[Profile],
    *,
    frequencies: Path | None = None,
    leave_one_out: bool | None = None,
    elsewhere: Mapping[str, str] | None = None,
) -> Iterator[Bench]:
    """A bench with what the profiles' legs need; without its encoder another ranking would be measured.

    Args:
        frequencies: a file of how often the log has each query, in the place of what it says itself.
        leave_one_out: None: where the log has some of the queries, or can't say.
        elsewhere: a profile's name to the index that it ranks, in a space of its own; clicks stay those of
            `index`.
    """
    given = of_queries(read_frequencies(frequencies), queries) if frequencies else None
    needed = any(profile.weights["dense"] > 0 or profile.weights["clicks"] > 0 for profile in profiles)
    encoder = query_encoder(settings, by_space=elsewhere is not None) if needed else None
    names = dict.fromkeys((elsewhere or {}).values(), index)
    client = require_opensearch(opensearch_client(settings), settings)
    try:
        redis = redis_client(settings, timeout_s=REDIS_TIMEOUT_S) if settings.redis_url else None
        logged, log_error = _logged(redis, index, queries)
        in_log = None if log_error else sum(count > 0 for count in (logged or {}).values())
        leave = leave_one_out if leave_one_out is not None else in_log != 0
        segments, of_texts = None, {}
        if given is not None:
            segments = query_segments(given)
            of_texts = {normalize_query(queries[query]): segment for query, segment in segments.items()}
        elif logged is not None:
            segments = query_segments(logged, leave_one_out=leave)
        evidence = (
            RecordingLookup(ClickStore(redis, client), of_texts, names=names) if redis is not None else None
        )
        ranker = HybridRanker(client, encoder, evidence)
        yield Bench(ranker, index, queries, evidence, in_log, log_error, leave, segments, elsewhere or {})
    finally:
        client.close()


def _logged(redis: Redis | None, index: str, queries: Queries) -> tuple[dict[str, int] | None, str | None]:
    """How often the log has each query; None without a log, and where it can't say, with the reason."""
    if redis is None:
        return None, None
    try:
        return log_frequencies(redis, index, queries), None
    except (
        RedisError,
        OSError,
    ) as error:  # the click leg fails as well: other legs are measured all the same
        return None, f"the click store didn't answer: {str(error) or type(error).__name__}"


def check_legs(ranked: Mapping[str, Ranked]) -> None:
    """End with status 1 where a leg failed: the measures are too low."""
    for name, each in ranked.items():
        for leg, count in each.failed.items():
            fail(
                f"the profile {name!r} was measured too low: {leg} failed in {count} of "
                f"{len(each.documents)} queries ({each.reasons[leg]})"
            )


@contextmanager
def searching(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar of searches; call what it gives after each."""
    columns = (TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns) as progress:
        task = progress.add_task("searching", total=total)
        yield lambda: progress.advance(task)
