"""What past queries add to BM25, dense and hybrid retrieval, on NFCorpus: a pseudo log, not a click log.

    python benchmarks/nfcorpus.py --data DIR [--queries dev.titles.queries.tsv] [--qrels dev.2-1-0.qrel.gz]

NFCorpus (Boteva, Gholipour, Sokolov, Riezler 2016) has no clicks. Its training queries with their judged
documents stand for a log (grade 2 counts as two choices, 1 as one), taken in by the same code as clicks. A
training query whose normal form is that of an evaluated query is left out. All settings are the defaults:
nothing was tuned on any split. A name without a folder is looked for in --data. OPENSEARCH_URL and REDIS_URL,
both set, name services to use; else it starts its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch
from redis import Redis
from rich.console import Console

from trifuse.deploy.cli.evaluation_tables import evaluation_table, notes
from trifuse.deploy.config import opensearch_client, redis_client, resolve
from trifuse.deploy.local.stack import LocalServices
from trifuse.encoder import DEFAULT_ENCODER, load_encoder
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoder
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.indexer.mapping import index_body
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks import normalize_query
from trifuse.ranker.evaluation import (
    Evaluation,
    Judgements,
    Queries,
    Ranked,
    evaluate,
    rank_all,
    read_judgements,
    read_queries,
)
from trifuse.ranker.evaluation.measures import largest_cutoff, split_names
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.runs import evaluation_depth
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.embedding import embed

DOCUMENTS = "docs_dev_test.tsv.gz"
LOG_QUERIES, LOG_QRELS = "train.titles.queries.tsv", "train.2-1-0.qrel.gz"
MEASURES = "nDCG@10,RR,R@10,R@100"
LEGS = {
    "bm25": ("lexical",),
    "dense": ("dense",),
    "hybrid": ("lexical", "dense"),
    "log": ("clicks",),
    "bm25+log": ("lexical", "clicks"),
    "dense+log": ("dense", "clicks"),
    "hybrid+log": ("lexical", "dense", "clicks"),
}
AGAINST = {
    "dense": "bm25",
    "hybrid": "bm25",
    "log": "bm25",
    "bm25+log": "bm25",
    "dense+log": "dense",
    "hybrid+log": "hybrid",
}
BATCH = 64


@dataclass(frozen=True)
class Corpus:
    """What is evaluated on."""

    documents: Queries
    log_queries: Queries
    log: Judgements
    queries: Queries
    qrels: Judgements


def profiles() -> dict[str, Profile]:
    """The default profile with only the legs of each name: the weights are the defaults."""
    default = Profile()
    return {
        name: Profile(name=name, weights={leg: default.weights[leg] for leg in legs})
        for name, legs in LEGS.items()
    }


def pseudo_log(corpus: Corpus) -> Iterator[ClickEvent]:
    """The log's relevant documents as choices, without what was asked as an evaluated query."""
    evaluated = {normalize_query(text) for text in corpus.queries.values()}
    for query, grades in corpus.log.items():
        text = corpus.log_queries.get(query)
        if text is None or normalize_query(text) in evaluated:
            continue
        for document, grade in grades.items():
            if grade > 0:
                yield ClickEvent(query=text, doc_id=document, count=grade, event_id=f"{query}:{document}")


def load_documents(client: OpenSearch, encoder: Encoder, index: str, documents: Queries) -> None:
    """Make the index, and embed its documents."""
    space = Space(encoder.space, TextTemplate(("text",)))
    properties = {"text": {"type": "text", "analyzer": "english"}}
    client.indices.create(index=index, body=index_body(properties, spaces={VECTOR_FIELD: space}))
    actions = (
        Action(op="create", index=index, id=document, source={"text": text})
        for document, text in documents.items()
    )
    refused = [item for item in bulk(client, actions).items if not item.ok]
    if refused:
        raise SystemExit(f"{len(refused)} documents were refused: {refused[0].reason}")
    client.indices.refresh(index=index)
    embed_all(client, encoder, index, list(documents))


def load_log(
    client: OpenSearch, redis: Redis, encoder: Encoder, index: str, corpus: Corpus
) -> dict[str, Any]:
    """Take the pseudo log in, and embed its queries; what became of it."""
    new: dict[str, None] = {}

    def enqueue(name: str, field: str, space: Space, ids: Sequence[tuple[str, str | None]]) -> None:
        new.update(dict.fromkeys(query for query, _ in ids))

    report = Intake(client, redis, index, enqueue=enqueue).take(pseudo_log(corpus))
    embed_all(client, encoder, f"trifuse-queries-{index}", list(new))
    return {"queries": report.queries, "pairs": report.pairs, "rejected": dict(report.rejected)}


def embed_all(client: OpenSearch, encoder: Encoder, index: str, ids: Sequence[str]) -> None:
    """Give documents their vectors, and make them searchable."""
    started = time.monotonic()
    for start in range(0, len(ids), BATCH):
        report = embed(
            client, encoder, index, VECTOR_FIELD, [(each, None) for each in ids[start : start + BATCH]]
        )
        if report.failed or report.unfinished:
            raise SystemExit(
                f"{report.failed + len(report.unfinished)} documents of {index} weren't embedded"
            )
        done = min(start + BATCH, len(ids))
        tell(f"{index}: {done} of {len(ids)} embedded, {done / (time.monotonic() - started):.0f} a second")
    client.indices.refresh(index=index)


def tell(what: str) -> None:
    """Progress, on stderr."""
    print(what, file=sys.stderr, flush=True)


@contextlib.contextmanager
def services() -> Iterator[tuple[OpenSearch, Redis]]:
    """Clients of the services that the environment names, or of ones of our own."""
    with contextlib.ExitStack() as stack:
        urls = [os.environ.get(name) for name in ("OPENSEARCH_URL", "REDIS_URL")]
        if not all(urls):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trifuse-nfcorpus-")))
            folder.chmod(0o755)  # the server doesn't run as root
            local = stack.enter_context(LocalServices(folder))
            urls = [local.opensearch_url, local.redis_url]
        settings = resolve(opensearch=urls[0], redis=urls[1])
        client = opensearch_client(settings)
        stack.callback(client.close)
        yield client, redis_client(settings, timeout_s=60.0)


@contextlib.contextmanager
def fresh_index(client: OpenSearch, redis: Redis) -> Iterator[str]:
    """A name that no index has; what was made under it is deleted at the end."""
    name = f"nfcorpus-{uuid.uuid4().hex[:8]}"
    try:
        yield name
    finally:
        for index in (name, f"trifuse-queries-{name}", f"trifuse-events-{name}"):
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
        for key in redis.scan_iter(match=f"trifuse:{{{name}}}:*", count=10_000):
            redis.delete(key)


def measure(
    corpus: Corpus, encoder_name: str, measures: Sequence[str]
) -> tuple[Evaluation, dict[str, Any], dict[str, Ranked]]:
    """Build the index and the log, rank by every profile, and evaluate."""
    encoder = load_encoder(encoder_name)
    wanted = {query: corpus.queries[query] for query in evaluated_queries(corpus.qrels, corpus.queries)}
    with services() as (client, redis), fresh_index(client, redis) as index:
        load_documents(client, encoder, index, corpus.documents)
        log = load_log(client, redis, encoder, index, corpus)
        ranker = HybridRanker(client, encoder, ClickStore(redis, client))
        cutoff = largest_cutoff(measures)
        ranked = {}
        for name, profile in profiles().items():
            started = time.monotonic()
            depth = evaluation_depth(profile, cutoff)
            ranked[name] = rank_all(ranker, index, wanted, profile=profile, depth=depth)
            tell(f"{name}: {len(wanted)} queries in {time.monotonic() - started:.0f} s")
    runs = {name: each.documents for name, each in ranked.items()}
    return evaluate(runs, corpus.qrels, corpus.queries, measures, against=AGAINST), log, ranked


def read_corpus(folder: Path, queries: str, qrels: str) -> Corpus:
    """The files, from the folder of NFCorpus or the one above it."""
    if not (folder / DOCUMENTS).exists() and (folder / "nfcorpus").is_dir():
        folder = folder / "nfcorpus"
    return Corpus(
        documents=read_queries(folder / DOCUMENTS),
        log_queries=read_queries(folder / LOG_QUERIES),
        log=read_judgements(folder / LOG_QRELS),
        queries=read_queries(_beside(folder, queries)),
        qrels=read_judgements(_beside(folder, qrels)),
    )


def _beside(folder: Path, name: str) -> Path:
    return folder / name if Path(name).name == name and (folder / name).exists() else Path(name)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of NFCorpus")
    parser.add_argument("--queries", default="dev.titles.queries.tsv", help="lines of id, tab, text")
    parser.add_argument("--qrels", default="dev.2-1-0.qrel.gz", help="their judgements")
    parser.add_argument("--measures", default=MEASURES, help="names of ir-measures")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    corpus = read_corpus(options.data, options.queries, options.qrels)
    evaluation, log, ranked = measure(corpus, options.encoder, split_names([options.measures]))
    if options.json:
        legs = {name: each.legs for name, each in ranked.items()}
        print(json.dumps(evaluation.as_dict() | {"log": log, "legs": legs}, indent=2))
        return
    console = Console()
    console.print(evaluation_table(evaluation))
    for line in notes(evaluation, ranked):
        print(line)
    print(f"pseudo log (judged training queries, no clicks): {log}")


if __name__ == "__main__":
    main()
