"""Abstracts that may be asked for the comparator, from the folder of Evidence Inference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.evidence import Article, read_abstracts, read_prompts
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.questions import article_document
from trifuse.encoder.training.aspects.sentences import Split

ASKED = ("comparator",)

LONGEST_ABSTRACT = 5_000
"""Characters: some articles have their whole text marked as the abstract; they are left out."""

_PROMPTS = "prompts_merged.csv"
_ABSTRACTS = "articles_abstracts.jsonl"


def holds_prompts(folder: Path) -> bool:
    """Whether a folder is one of Evidence Inference."""
    return _file(folder, _PROMPTS) is not None


def comparator_documents(
    folder: Path, split: Split, left_out: Callable[[str], None]
) -> Iterator[LabelledDocument]:
    """The titles and abstracts of articles with prompts, to be asked for the comparator alone.

    Their sentences have the interventions and outcomes that prompts name too, so that one that names the
    comparator alone can be told from one that names it beside what it is compared with.

    Args:
        folder: with `prompts_merged.csv` and `articles_abstracts.jsonl`, plain or gzip.
        left_out: is told of each article without prompts, a split of its own, or an abstract.

    Raises:
        LabelsInvalid: a file isn't there, or isn't what it should be; naming it, and the line.
    """
    prompts = read_prompts(_need(folder, _PROMPTS))
    file = _need(folder, _ABSTRACTS)
    seen: set[str] = set()
    for article in read_abstracts(file):
        if article.id in seen:
            raise LabelsInvalid(f"{file}: the article {article.id!r} is there twice: leave one out")
        seen.add(article.id)
        its = prompts.get(article.id)
        if its and article.split and has_abstract(article):
            yield article_document(article, its, split)._replace(asked=ASKED)
        else:
            left_out(article.id)


def has_abstract(article: Article) -> bool:
    """Whether its passages are an abstract: some text, and not the whole article."""
    return 0 < sum(end - start for start, end in article.passages) <= LONGEST_ABSTRACT


def _file(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / f"{name}.gz", folder / name) if path.is_file()), None)


def _need(folder: Path, name: str) -> Path:
    found = _file(folder, name)
    if found is None:
        raise LabelsInvalid(f"{folder}: there is no {name} in it, nor {name}.gz: give the whole folder")
    return found
