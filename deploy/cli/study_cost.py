"""`trifuse study cost`: what the click log costs, in time of a search and in memory."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy as np
import typer
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import (
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    fail,
    out,
    print_lines,
)
from trifuse.deploy.cli.evaluating import QueriesOption, open_bench, searching
from trifuse.deploy.cli.ranking import usage
from trifuse.deploy.cli.study_memory import LogMemory, log_memory
from trifuse.deploy.cli.study_plots import PlotOption, check_plot, plot_cost
from trifuse.deploy.cli.study_tables import cost_table, memory_table
from trifuse.deploy.cli.studying import AgainstOption, IndexArgument, ProfileOption, need_log, profile_pair
from trifuse.deploy.config import Settings, opensearch_client, redis_client, resolve
from trifuse.ranker import Profile
from trifuse.ranker.evaluation import read_queries
from trifuse.ranker.evaluation.cost import Times, timed

WARM_UP = 20
"""So many queries are searched before the timing starts."""

RoundsOption = Annotated[int, typer.Option("--rounds", min=1, help="How often each query is searched.")]
SizeOption = Annotated[int, typer.Option("--size", min=1, help="Hits of a page.")]


def cost_command(
    index: IndexArgument,
    queries: QueriesOption,
    profile: ProfileOption = "default",
    against: AgainstOption = None,
    rounds: RoundsOption = 5,
    size: SizeOption = 10,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """What the click log adds to the time of a search, and what it takes of memory.

    Each query is searched with and without the log, one right after the other
    and in either order. Searches are as served, the time budget of the click
    leg included: where it ran out, that is said, and the time is no measure.

    Example: [bold]trifuse study cost trials --queries q.tsv[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    with usage():
        check_plot(plot)
        with_log, without = profile_pair(profile, against, opensearch=opensearch)
        if size > min(with_log.depth, without.depth):
            fail(f"--size {size} is deeper than the profiles rank: give a smaller one", status=2)
    asked = read_queries(queries)
    states: Counter[str] = Counter()
    with open_bench(settings, index, asked, (with_log, without), leave_one_out=False) as bench:
        need_log(bench)

        def search(each: Profile, text: str) -> None:
            response = bench.ranker.search(index, text=text, size=size, profile=each)
            if each is with_log:
                states[response["trifuse"]["legs"]["clicks"]["state"]] += 1

        texts = list(asked.values())
        for text in texts[:WARM_UP]:
            search(without, text)
            search(with_log, text)
        states.clear()
        with searching(2 * rounds * len(texts)) as step:
            tables = time_pairs(search, (with_log, without), texts, rounds, progress=step)
    times = timed(*tables)
    memory = _memory(settings, index)
    if as_json:
        emit(
            {
                "profile": with_log.name,
                "against": without.name,
                "queries": len(asked),
                "rounds": rounds,
                "clicks": dict(states),
                "latency": {name: found.as_dict() for name, found in times.items()},
                "memory": memory.as_dict(),
            }
        )
    else:
        out.print(cost_table(times, with_log.name, without.name))
        out.print(memory_table(memory))
        print_lines(_notes(len(asked), rounds, states, memory))
    if plot is not None:
        title = f"What the click log costs a search ({index}, {len(asked)} queries)"
        plot_cost(plot, times, title, with_log.name, without.name)
    if states["failed"]:
        fail(
            f"the click leg failed in {states['failed']} of {states.total()} searches, which is no time of a "
            "working one: raise the profile's click_budget_s, or see whether Redis answers"
        )


def time_pairs(
    search: Callable[[Profile, str], None],
    profiles: tuple[Profile, Profile],
    texts: Sequence[str],
    rounds: int,
    *,
    progress: Callable[[], None],
    clock: Callable[[], float] = time.perf_counter,
    seed: int = 0,
) -> tuple[Times, Times]:
    """Search each text by both profiles, in an order that is drawn.

    Returns:
        (texts, rounds) milliseconds of each profile.
    """
    rng = random.Random(seed)  # noqa: S311
    tables = {profile.name: np.zeros((len(texts), rounds)) for profile in profiles}
    for number in range(rounds):
        for at in rng.sample(range(len(texts)), len(texts)):
            for profile in rng.sample(profiles, 2):
                started = clock()
                search(profile, texts[at])
                tables[profile.name][at, number] = 1000 * (clock() - started)
                progress()
    first, second = tables.values()
    return first, second


def _memory(settings: Settings, index: str) -> LogMemory:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    client = opensearch_client(settings)
    try:
        with Bars(*columns) as progress:
            task = progress.add_task("weighing the click log")

            def step(keys: int) -> None:
                progress.update(task, description=f"weighing the click log: {keys:,} keys")

            return log_memory(redis_client(settings, timeout_s=30.0), client, index, progress=step)
    finally:
        client.close()


def _notes(queries: int, rounds: int, states: Mapping[str, int], memory: LogMemory) -> list[str]:
    found = ", ".join(f"{state} {count}" for state, count in sorted(states.items()))
    notes = [f"{queries} queries, {rounds} rounds; the click leg: {found}"]
    if memory.estimated:
        notes.append("past queries, pairs and the bytes of what was clicked are estimated from a sample")
    return notes
