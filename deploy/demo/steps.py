"""The steps of the demonstration, each one call of trifuse's own API."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from trifuse.deploy.demo.narrator import Stage
from trifuse.deploy.demo.report import Early
from trifuse.deploy.demo.sample import write_shifted_clicks
from trifuse.deploy.demo.stack import Stack
from trifuse.deploy.errors import DemoFailed
from trifuse.indexer.load import load
from trifuse.indexer.mapping import sentence_index
from trifuse.indexer.progress import Step
from trifuse.indexer.readers import Record, read_trials
from trifuse.indexer.report import LoadReport
from trifuse.indexer.sync import SyncReport, counts, sync
from trifuse.ranker import ClickEvidence
from trifuse.worker.clicks.intake import Intake, IntakeReport
from trifuse.worker.clicks.reading import read_clicks


def load_trials(stack: Stack, paths: Sequence[Path], index: str, *, limit: int | None) -> LoadReport:
    """Write the trials; the workers are told of each that lacks a vector.

    Raises:
        DemoFailed: no trial was found.
    """
    report = load(
        stack.client, read_trials(paths), index, space=stack.space, enqueue=stack.enqueue, limit=limit
    )
    if not report.indexed + report.unchanged:
        why = report.rejected[0].reason if report.rejected else "no record was found"
        raise DemoFailed(
            f"no trial could be loaded from {', '.join(map(str, paths))}: {why}; expected the registry's"
            " API v2 JSON, its XML or CSV, or flat JSON lines"
        )
    return report


def search_early(stack: Stack, index: str, query: str) -> Early:
    """Search before the vectors are there: BM25 has its hits already."""
    stack.client.indices.refresh(index=index)
    response = stack.ranker.search(index, {"_source": ["brief_title"]}, text=query, size=1)
    legs = response["trifuse"]["legs"]
    found = counts(stack.client, index)
    return Early(
        hits=legs["lexical"]["hits"],
        first=next((hit["_source"].get("brief_title") for hit in response["hits"]["hits"]), None),
        documents=found["documents"],
        vectors=found["current"],
        dense=legs["dense"]["state"],
        reason=legs["dense"]["reason"],
    )


def wait_for_vectors(stack: Stack, index: str, show: Stage) -> SyncReport:
    """Queue what lacks a vector in the index, its sentences and its past queries, and wait for all of it.

    Raises:
        DemoFailed: something stays without a vector.
    """
    totals: dict[str, int] = {}

    def tell(seen: Step) -> None:
        if seen.doing == "embedding" and seen.total:
            totals[seen.index] = seen.total
            show(f"vectors of {seen.index}", seen.done, seen.total)

    report = sync(stack.client, index, stack.enqueue, wait=True, listening=stack.listening, progress=tell)
    if report.pending:
        raise DemoFailed(
            f"{report.pending} documents of {index!r} have no vector yet: {report.stalled or 'time ran out'};"
            f" see `trifuse status` for the worker's log, then run `trifuse sync {index} --wait`"
        )
    for name, total in totals.items():
        show(f"vectors of {name}", total, total)  # also those that came by the hints of the load
    return report


def load_sample_clicks(stack: Stack, index: str) -> IntakeReport:
    """Take the bundled click log, moved in time so that its last event is as old as the index.

    A second run moves it by as much, so that each event is the same event and counts once.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "clicks.ndjson"
        write_shifted_clicks(log, _made(stack.client, index))
        return Intake(stack.client, stack.redis, index, enqueue=stack.enqueue).take(read_clicks([log]))


def _made(client: OpenSearch, index: str) -> datetime:
    """When an index was made."""
    settings = client.indices.get_settings(index=index).values()
    milliseconds = max(int(each["settings"]["index"]["creation_date"]) for each in settings)
    return datetime.fromtimestamp(milliseconds // 1000, UTC)


def load_sentences(
    stack: Stack, paths: Sequence[Path], index: str, query: str, *, trials: int, limit: int | None
) -> LoadReport:
    """Write the sentences of the so many best trials for a query into their own index."""
    response = stack.ranker.search(index, {"_source": False}, text=query, size=trials)
    best = {hit["_id"] for hit in response["hits"]["hits"]}
    records = (item for item in islice(read_trials(paths), limit) if isinstance(item, Record))
    wanted = {item.trial.nct_id: item for item in records if item.trial.nct_id in best}  # the last wins
    return load(
        stack.client, wanted.values(), index, space=stack.space, enqueue=stack.enqueue, sentences=True
    )


def best_sentences(stack: Stack, index: str, query: str, *, size: int) -> list[dict[str, Any]]:
    """The sentences that answer best: `parent_id`, `section` and `text` of each."""
    body = {"_source": ["parent_id", "section", "text"]}
    response = stack.ranker.search(sentence_index(index), body, text=query, size=size)
    return [hit["_source"] for hit in response["hits"]["hits"]]


def common_condition(client: OpenSearch, index: str) -> str:
    """The condition that most trials of an index name.

    Raises:
        DemoFailed: none names any.
    """
    aggs = {"conditions": {"terms": {"field": "conditions.keyword", "size": 1}}}
    found = client.search(index=index, body={"size": 0, "aggs": aggs})
    buckets = found["aggregations"]["conditions"]["buckets"]
    if not buckets:
        raise DemoFailed(f"no trial of {index!r} names a condition: say what to search for with --query")
    return str(buckets[0]["key"])


def similar_queries(stack: Stack, index: str, query: str) -> ClickEvidence:
    """What the click log knows of queries like this one."""
    vector = stack.encoder.encode_queries([query])[0]
    return stack.clicks.lookup(index, query, vector, space=stack.encoder.space, budget_s=2.0)


def rank(stack: Stack, index: str, query: str, *, depth: int) -> dict[str, Any]:
    """One search by all three signals, so deep that each signal's own ranking can be read from it."""
    return stack.ranker.search(index, {"_source": ["brief_title"]}, text=query, size=depth)
