"""The demonstration from beginning to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trifuse.deploy.demo import steps
from trifuse.deploy.demo.advice import next_commands, program
from trifuse.deploy.demo.narrator import Narrator
from trifuse.deploy.demo.rankings import LEGS, Ranked, ranked, remarks
from trifuse.deploy.demo.report import Early, Report, rankings_of
from trifuse.deploy.demo.sample import QUERY, TRIALS
from trifuse.deploy.demo.stack import Stack, start_stack
from trifuse.deploy.demo.tables import NAMES, side_by_side, signals
from trifuse.deploy.local.places import home_dir
from trifuse.deploy.local.up import down
from trifuse.indexer.mapping import sentence_index
from trifuse.indexer.sync import counts
from trifuse.worker.clicks.checks import DUPLICATE

ROWS = 8
DEPTH = 100
REJECTED_SHOWN = 3
SENTENCES_SHOWN = 3


@dataclass(frozen=True)
class Wanted:
    """What the demonstration shows.

    Args:
        data: files of trials; empty takes the bundled sample, with its clicks.
        query: None takes the sample's, or the data's most frequent condition.
        limit: records that are loaded at most.
        sentences: the sentences of so many trials get vectors of their own.
    """

    index: str
    data: Sequence[Path] = ()
    query: str | None = None
    limit: int | None = None
    sentences: int = 8
    opensearch: str | None = None
    redis: str | None = None
    broker: str | None = None
    encoder: str | None = None

    @property
    def paths(self) -> Sequence[Path]:
        """The files that are loaded."""
        return self.data or (TRIALS,)


def run(wanted: Wanted, narrator: Narrator) -> Report:
    """Start, load, embed, click, rank, and tell of it.

    Raises:
        TrifuseError: a step can't be done; the message holds the remedy.
    """
    stack = _services(wanted, narrator)
    loaded = _load(stack, wanted, narrator)
    query = wanted.query or (steps.common_condition(stack.client, wanted.index) if wanted.data else QUERY)
    early = _early(stack, wanted.index, query, narrator)
    counted = _vectors(stack, wanted.index, narrator)
    clicks = _clicks(stack, wanted, narrator)
    sentences = _sentences(stack, wanted, query, narrator) if wanted.sentences else None
    similar, response = _rank(stack, wanted.index, query, narrator)
    hits = ranked(response)
    _show(hits, narrator)
    _advise(wanted, query, narrator)
    return Report(
        index=wanted.index,
        query=query,
        services=stack.urls,
        load=loaded,
        early=early,
        counts=counted,
        clicks=clicks,
        sentences=sentences,
        similar=similar,
        legs=response["trifuse"]["legs"],
        rankings=rankings_of(hits),
        hits=hits,
        seconds=narrator.seconds,
    )


def _services(wanted: Wanted, narrator: Narrator) -> Stack:
    with narrator.step("services", "Start OpenSearch, Redis and a worker"):
        with narrator.stages() as show:
            stack = start_stack(
                opensearch=wanted.opensearch,
                redis=wanted.redis,
                broker=wanted.broker,
                encoder=wanted.encoder,
                progress=show,
            )
        for name, value in stack.urls.items():
            narrator.say(f"{name:10} {value}")
        if not stack.started:
            narrator.say("all of it was running already")
    return stack


def _load(stack: Stack, wanted: Wanted, narrator: Narrator) -> dict[str, int]:
    source = ", ".join(map(str, wanted.data)) if wanted.data else "fictional trials that come with trifuse"
    with narrator.step("load", f"Load trials into the index {wanted.index!r}: {source}"):
        report = steps.load_trials(stack, wanted.paths, wanted.index, limit=wanted.limit)
        narrator.say(
            f"read {report.read:,} = indexed {report.indexed:,} + unchanged {report.unchanged:,} + rejected"
            f" {len(report.rejected):,}"
        )
        for rejection in report.rejected[:REJECTED_SHOWN]:
            narrator.say(f"rejected {rejection.id or rejection.source}: {rejection.reason}", style="yellow")
        if len(report.rejected) > REJECTED_SHOWN:
            narrator.say("all of them: trifuse load PATH --index I --report rejected.json", style="yellow")
    return {
        "read": report.read,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
        "rejected": len(report.rejected),
    }


def _early(stack: Stack, index: str, query: str, narrator: Narrator) -> Early:
    with narrator.step("early", f"Search at once for {query!r}, while the worker makes vectors"):
        early = steps.search_early(stack, index, query)
        narrator.say(f"found by BM25: {early.hits}, first of all {early.first or 'nothing'}")
        narrator.say(f"trials with a vector: {early.vectors:,} of {early.documents:,}")
    return early


def _vectors(stack: Stack, index: str, narrator: Narrator) -> dict[str, Any]:
    with narrator.step("vectors", "Wait for the vectors"):
        with narrator.stages() as show:
            steps.wait_for_vectors(stack, index, show)
        counted = counts(stack.client, index)
        parts = " + ".join(
            f"{name} {counted[name]:,}" for name in ("current", "stale", "missing", "failed", "empty")
        )
        narrator.say(f"documents {counted['documents']:,} = {parts}")
    return counted


def _clicks(stack: Stack, wanted: Wanted, narrator: Narrator) -> dict[str, Any] | None:
    if wanted.data:
        return None
    with narrator.step("clicks", "Load the click log, and embed the past queries in it"):
        report = steps.load_sample_clicks(stack, wanted.index)
        narrator.say(
            f"clicks counted: {report.counted}, of {report.queries} queries; events that were known already:"
            f" {report.rejected[DUPLICATE]}"
        )
        with narrator.stages() as show:
            steps.wait_for_vectors(stack, wanted.index, show)
    return report.as_dict()


def _sentences(stack: Stack, wanted: Wanted, query: str, narrator: Narrator) -> dict[str, Any]:
    title = f"Give the sentences of the {wanted.sentences} best trials vectors of their own"
    with narrator.step("sentences", title):
        report = steps.load_sentences(
            stack, wanted.paths, wanted.index, query, trials=wanted.sentences, limit=wanted.limit
        )
        with narrator.stages() as show:
            steps.wait_for_vectors(stack, wanted.index, show)
        counted = counts(stack.client, sentence_index(wanted.index))
        narrator.say(f"{counted['current']} sentences; the nearest to {query!r}:")
        best = steps.best_sentences(stack, wanted.index, query, size=SENTENCES_SHOWN)
        for found in best:
            narrator.say(f"  {found['parent_id']} {found['section']}: {found['text']}")
    indexed = report.sentences.indexed if report.sentences else 0
    return {
        "documents": counted["documents"],
        "current": counted["current"],
        "indexed": indexed,
        "best": best,
    }


def _rank(
    stack: Stack, index: str, query: str, narrator: Narrator
) -> tuple[dict[str, float], dict[str, Any]]:
    with narrator.step("search", f"Rank {query!r} by three signals"):
        evidence = steps.similar_queries(stack, index, query)
        similar = {past.text: round(past.similarity, 3) for past in evidence.queries[:5]}
        response = steps.rank(stack, index, query, depth=DEPTH)
        legs = response["trifuse"]["legs"]
        for leg in LEGS:
            found = legs[leg]
            note = f" ({found['reason']})" if found["reason"] else ""
            narrator.say(f"{NAMES[leg]:14} {found['hits']:3} hits, weight {found['weight']:g}{note}")
        if similar:
            listed = ", ".join(f"{text!r} {similarity:.2f}" for text, similarity in similar.items())
            narrator.say(f"past queries like it: {listed}")
    return similar, response


def _show(hits: list[Ranked], narrator: Narrator) -> None:
    narrator.table(side_by_side(hits, rows=ROWS))
    narrator.table(signals(hits, rows=ROWS))
    for remark in remarks(hits, rows=ROWS):
        narrator.say(remark)


def _advise(wanted: Wanted, query: str, narrator: Narrator) -> None:
    if wanted.data:
        narrator.say(
            "The click leg is empty: no clicks came with these files. With a log of yours:"
            f"\n  {program()} clicks load events.ndjson --index {wanted.index}"
        )
    indexes = [wanted.index, *([sentence_index(wanted.index)] if wanted.sentences else [])]
    narrator.title("\nTry next")
    narrator.say("\n".join(next_commands(indexes, query, sample=not wanted.data, program=program())))


def stop(narrator: Narrator) -> None:
    """End what `trifuse up` or the demonstration has started; data stays."""
    ended = down(home_dir())
    names = ", ".join(service.name for service in ended) or "nothing"
    narrator.title(f"Stopped: {names}")
