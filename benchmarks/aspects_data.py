"""What the tables of aspects ask, and of which sentences: abstracts by a topic, and natural questions."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from trifuse.deploy.cli.aspect_documents import of_split, read_documents, sentence_spans
from trifuse.encoder.training.aspects.comparators import has_abstract
from trifuse.encoder.training.aspects.evidence import read_evidence, read_full_texts, read_prompts
from trifuse.encoder.training.aspects.labelled import Aspects, LabelledDocument
from trifuse.encoder.training.aspects.questions import Question, article_document, questions_of
from trifuse.encoder.training.aspects.splits import split_documents

TOPICS = ("title", "mesh", "conclusion", "none")


class Asked(NamedTuple):
    """A document: what it is asked about, and the sentences that may answer."""

    id: str
    topic: str
    texts: list[str]
    labels: list[Aspects]


class Questions(NamedTuple):
    """Articles, and questions that some of them answer."""

    documents: list[LabelledDocument]
    asked: list[Question]


def abstracts(data: Path, file: Path | None, split: str, topic: str) -> tuple[list[Asked], list[list[str]]]:
    """The documents of a split, each with its topic; and the sentences of each document that isn't asked.

    Args:
        file: labelled tokens; without it, those of `data`.
        split: `test`: those that say so, or all where none does; `train`, `dev`: as training splits the rest.
        topic: `title`; `mesh`: the major headings of its record in MeSH, or the title where it has none;
            `conclusion`: its last sentence, which is no candidate then; `none`: "".
    """
    left_out: list[str] = []
    every = read_documents(file or data / "ebm_nlp" / "pio_tokens.jsonl.gz", left_out.append)
    parts = split_documents(every)
    documents = {"train": parts.train, "dev": parts.dev, "test": of_split(every, None)}[split]
    headings = _headings(data / "ebm_nlp" / "documents.jsonl.gz") if topic == "mesh" else {}
    if topic == "mesh":
        known = sum(document.id in headings for document in documents)
        tell(f"{known} of {len(documents)} documents have major MeSH headings; the others have their title")
    asked = [_asked(document, topic, headings) for document in documents]
    chosen = {document.id for document in documents}
    others = [document for document in every if document.id not in chosen]
    return [document for document in asked if document.texts], texts_of(others)


def _asked(document: LabelledDocument, topic: str, headings: Mapping[str, str]) -> Asked:
    candidates = document.candidates[:-1] if topic == "conclusion" else document.candidates
    about = {
        "title": document.title,
        "mesh": headings.get(document.id, document.title),
        "conclusion": document.sentences[-1].text if document.sentences else "",
        "none": "",
    }[topic]
    return Asked(
        document.id, about, [each.text for each in candidates], [each.aspects for each in candidates]
    )


def questions(data: Path, split: str) -> Questions:
    """The abstracts of all articles of Evidence Inference that have one, and a split's questions."""
    folder, invalid = data / "evidence_inference", list[str]()
    prompts = read_prompts(folder / "prompts_merged.csv.gz")
    evidence = read_evidence(folder / "v2_annotations.csv.gz", invalid.append)
    documents, asked, left_out = [], [], 0
    for article in read_full_texts(folder / "articles_fulltext_v2.jsonl.gz"):
        if not has_abstract(article):
            left_out += 1
            continue
        its = prompts.get(article.id, [])
        document = article_document(article, its, sentence_spans)
        documents.append(document)
        if document.split == split:
            asked += questions_of(document, its, evidence)
    tell(
        f"{len(asked)} questions ({split}) to {len(documents)} abstracts; {left_out} articles without an "
        f"abstract of its own, and {len(invalid)} annotations that aren't valid, were left out"
    )
    return Questions(documents, asked)


def tell(what: str) -> None:
    """Say on stderr what is going on."""
    print(what, file=sys.stderr)


def _headings(path: Path) -> Mapping[str, str]:
    """Document to its major headings, without qualifiers, in one text."""
    found: dict[str, str] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            major = [re.sub(r"/.*|\*", "", heading) for heading in record.get("mesh") or () if "*" in heading]
            if major:
                found[str(record["pmid"])] = "; ".join(dict.fromkeys(major))
    return found


def texts_of(documents: Sequence[LabelledDocument]) -> list[list[str]]:
    """The texts of each document's candidates."""
    return [[sentence.text for sentence in document.candidates] for document in documents]
