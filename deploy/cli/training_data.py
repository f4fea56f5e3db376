"""What `trifuse train lader` learns from: files of triples, or queries with judgements and a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from trifuse.deploy.cli.training_corpus import Corpus, CorpusDocument, read_corpus
from trifuse.deploy.errors import UnreadableCorpus
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.encoder.training import Example, Passage, sampled_examples
from trifuse.ranker.evaluation import read_judgements, read_queries
from trifuse.worker.clicks.triples import Triple, holds_ids, read_triples, title_and_text

Mine = Callable[[Corpus, Mapping[str, str], Mapping[str, AbstractSet[str]]], Mapping[str, Sequence[str]]]
"""Given the collection, the queries, and what is relevant to each: hard negatives of each query."""


@dataclass(frozen=True)
class TrainingData:
    """Examples, made anew at every call, and what is known to be relevant.

    Args:
        examples: given what stands between a title and its text, the examples, without end.
        known: query text to relevant documents.
    """

    examples: Callable[[str], Iterator[Example]]
    known: Mapping[str, AbstractSet[str]] = field(default_factory=dict)


@contextmanager
def from_triples(triples: Path, queries: Path | None, corpus: Path | None) -> Iterator[TrainingData]:
    """Triples in their file's order, from its start again where it ends.

    Args:
        queries, corpus: where the triples are of ids, what the ids stand for.

    Raises:
        UnreadableLog, UnreadableInput, UnreadableCorpus: a file isn't what it should be.
    """
    if not holds_ids(triples):
        yield TrainingData(lambda separator: _from_texts(triples, separator))
        return
    if queries is None or corpus is None:
        raise UnreadableCorpus(
            f"{triples} names queries and documents by ids: give their texts (--queries and --corpus)"
        )
    asked = read_queries(queries)
    with collection(corpus) as documents:
        yield TrainingData(lambda separator: _from_ids(triples, asked, documents, separator))


@contextmanager
def from_judgements(
    queries: Path, qrels: Path, corpus: Path, mine: Mine, *, seed: int
) -> Iterator[TrainingData]:
    """Judged queries with mined negatives; queries and judgements that lack their other half are left out.

    Raises:
        UnreadableInput, UnreadableCorpus: a file isn't what it should be.
        TrainingInvalid: no query has both a relevant document and a negative.
    """
    asked, judged = read_queries(queries), read_judgements(qrels)
    with collection(corpus) as documents:
        relevant = {
            query: {
                document: float(grade)
                for document, grade in grades.items()
                if grade > 0 and document in documents
            }
            for query, grades in judged.items()
            if query in asked
        }
        wanted = {query: asked[query] for query, found in relevant.items() if found}
        negatives = mine(documents, wanted, {query: set(relevant[query]) for query in wanted})
        known: dict[str, set[str]] = {}
        for query, text in wanted.items():
            known.setdefault(text, set()).update(relevant[query])
        yield TrainingData(
            lambda separator: sampled_examples(
                wanted,
                relevant,
                negatives,
                lambda document: _joined(documents.get(document), separator),
                seed=seed,
            ),
            known,
        )


@contextmanager
def collection(path: Path) -> Iterator[Corpus]:
    """A file's documents by id, on the disk as long as they are needed."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="trifuse-corpus-"))
        corpus = Corpus(Path(folder) / "corpus.sqlite", read_corpus(path))
        stack.callback(corpus.close)
        yield corpus


def _joined(document: CorpusDocument, separator: str) -> str:
    template = TextTemplate(("title", "text"), separator=separator)
    return build_text({"title": document.title, "text": document.text}, template)


def _again(triples: Path) -> Iterator[Triple]:
    while True:
        yield from read_triples(triples)


def _from_texts(triples: Path, separator: str) -> Iterator[Example]:
    for triple in _again(triples):
        positive, negative = (
            _joined(CorpusDocument("", *title_and_text(text)), separator)
            for text in (triple.positive, triple.negative)
        )
        yield Example(triple.query, Passage(positive, positive), Passage(negative, negative))


def _from_ids(
    triples: Path, queries: Mapping[str, str], documents: Corpus, separator: str
) -> Iterator[Example]:
    for triple in _again(triples):
        if triple.query not in queries:
            raise UnreadableCorpus(
                f"{triples} names the query {triple.query!r}, which isn't among the queries: give those that "
                "the triples were made from (--queries)"
            )
        positive, negative = (
            Passage(document, _joined(documents.get(document), separator))
            for document in (triple.positive, triple.negative)
        )
        yield Example(queries[triple.query], positive, negative)
