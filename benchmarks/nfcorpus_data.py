"""NFCorpus as a collection, an evaluation and a pseudo log. Reads files; sends nothing.

NFCorpus (Boteva, Gholipour, Sokolov, Riezler 2016) has no clicks. Its training queries with their judged
documents stand for a log: grade 2 counts as two choices, 1 as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.evaluation import Judgements, Queries, read_judgements, read_queries
from trifuse.worker.clicks.events import ClickEvent

DOCUMENTS = "docs_dev_test.tsv.gz"
LOG_QUERIES, LOG_QRELS = "train.titles.queries.tsv", "train.2-1-0.qrel.gz"
QUERIES, QRELS = "dev.titles.queries.tsv", "dev.2-1-0.qrel.gz"


@dataclass(frozen=True)
class Corpus:
    """What is evaluated on."""

    documents: Queries
    log_queries: Queries
    log: Judgements
    queries: Queries
    qrels: Judgements


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


def read_corpus(folder: Path, queries: str = QUERIES, qrels: str = QRELS) -> Corpus:
    """The files, from the folder of NFCorpus or the one above it.

    Args:
        queries, qrels: of the evaluation: a name in that folder or any path, plain or gzip'd.
    """
    folder = nfcorpus_folder(folder)
    return Corpus(
        documents=read_queries(folder / DOCUMENTS),
        log_queries=read_queries(folder / LOG_QUERIES),
        log=read_judgements(folder / LOG_QRELS),
        queries=read_queries(_beside(folder, queries)),
        qrels=read_judgements(_beside(folder, qrels)),
    )


def parted(documents: Queries) -> dict[str, str]:
    """The documents as `title [SEP] abstract`, which `trifuse train lader` embeds.

    The files join the two by the word `abstract`; a text without it stays as it is.
    """
    return {document: text.replace(" abstract ", " [SEP] ", 1) for document, text in documents.items()}


def nfcorpus_folder(folder: Path) -> Path:
    """The folder that holds the documents: the one given, or `nfcorpus` in it."""
    if not (folder / DOCUMENTS).exists() and (folder / "nfcorpus").is_dir():
        return folder / "nfcorpus"
    return folder


def _beside(folder: Path, name: str) -> Path:
    return folder / name if Path(name).name == name and (folder / name).exists() else Path(name)
