"""The labelled documents that `trifuse aspect evaluate` judges by and `trifuse train aspect` learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from trifuse.deploy.errors import UnreadableCorpus
from trifuse.encoder.aspects import ASPECTS
from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.comparators import comparator_documents, holds_prompts
from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledTokens
from trifuse.encoder.training.aspects.release import read_release
from trifuse.encoder.training.aspects.rows import read_rows
from trifuse.encoder.training.aspects.sentences import labelled_sentences
from trifuse.indexer.sentences.split import text_sentences


def read_documents(path: Path, left_out: Callable[[str], None]) -> list[LabelledDocument]:
    """The documents of a file of labelled tokens, or of a folder, in sentences.

    Folders are those of an EBM-NLP release, of which those to train by and those that experts labelled
    (`test/gold`) are read, and of Evidence Inference. A document may be asked for the aspects that its file
    or folder labels.

    Args:
        left_out: is told of each document of a folder that isn't annotated whole, or has no abstract.

    Raises:
        LabelsInvalid: a file isn't what it should be; naming it, and the line.
    """
    if path.is_dir() and holds_prompts(path):
        return list(comparator_documents(path, sentence_spans, left_out))
    documents = [labelled_sentences(tokens, sentence_spans) for tokens in _tokens(path, left_out)]
    had = {aspect for each in documents for sentence in each.sentences for aspect in sentence.aspects}
    return [document._replace(asked=tuple(sorted(had)) or None) for document in documents]


def read_several(paths: Sequence[Path], left_out: Callable[[str], None]) -> list[LabelledDocument]:
    """The documents of several files and folders, as `read_documents` reads each.

    Raises:
        LabelsInvalid: as there; or a document is labelled for an aspect by two of them.
    """
    found: list[LabelledDocument] = []
    labelled: dict[tuple[str, str], int] = {}
    for number, path in enumerate(paths):
        for document in read_documents(path, left_out):
            for aspect in document.asks(ASPECTS):
                other = labelled.setdefault((document.id, aspect), number)
                if other != number:
                    raise LabelsInvalid(
                        f"{path}: the document {document.id!r} is labelled for {aspect} by {paths[other]} "
                        "too: leave one of the two out (--data)"
                    )
            found.append(document)
    return found


def of_split(documents: Iterable[LabelledDocument], split: str | None) -> list[LabelledDocument]:
    """The documents of a split; without a name those of `test` where there are any, else all.

    Raises:
        UnreadableCorpus: there are none of that split.
    """
    found = list(documents)
    splits = sorted({document.split for document in found})
    if split is None:
        split = "test" if "test" in splits else None
    elif split not in splits:
        known = ", ".join(filter(None, splits)) or "none"
        raise UnreadableCorpus(f"no document is of the split {split!r}: the splits here are {known}")
    return [document for document in found if split in (None, document.split)]


def _tokens(path: Path, left_out: Callable[[str], None]) -> Iterator[LabelledTokens]:
    if path.is_dir():
        yield from read_release(path, "train", left_out)
        yield from read_release(path, "test/gold", left_out)
    else:
        yield from read_rows(path)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text start and end."""
    return ((sentence.start, sentence.end) for sentence in text_sentences("text", text))
