"""Natural questions for an aspect, and the sentences of an article that answer them, from its prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trifuse.encoder.training.aspects.evidence import Article, Prompt
from trifuse.encoder.training.aspects.labelled import Aspects, LabelledDocument, LabelledSentence
from trifuse.encoder.training.aspects.sentences import Split

QUESTIONS: Mapping[str, str] = {
    "intervention": "What was compared with {comparator} for its effect on {outcome}?",
    "comparator": "What was {intervention} compared with for its effect on {outcome}?",
    "outcome": "What was the effect of {intervention} on {outcome}, compared with {comparator}?",
}
"""Aspect to the question for it, of what the prompt says of the other two."""

_WORD = re.compile(r"\w+")


class Question(NamedTuple):
    """A question, and what answers it.

    Args:
        id: the prompt's, and the aspect.
        document: the article's id.
        answers: positions among the document's candidates.
    """

    id: str
    text: str
    aspect: str
    document: str
    answers: frozenset[int]


def article_document(article: Article, prompts: Sequence[Prompt], split: Split) -> LabelledDocument:
    """The article's title and abstract in sentences.

    A sentence has an aspect where it holds what one of the prompts says of it, word by word, whatever the
    case and the punctuation. Population isn't labelled: prompts don't tell it.
    """
    phrases = {
        aspect: [words for prompt in prompts if (words := _words(getattr(prompt, aspect)))]
        for aspect in QUESTIONS
    }
    sentences = [_sentence(article, *article.title, phrases)]
    for start, end in article.passages:
        for first, last in split(article.text[start:end]):
            sentences.append(_sentence(article, start + first, start + last, phrases))
    part = {"validation": "dev"}.get(article.split, article.split)
    return LabelledDocument(article.id, article.text, tuple(sentences), part, "evidence_inference")


def questions_of(
    document: LabelledDocument,
    prompts: Sequence[Prompt],
    evidence: Mapping[str, Sequence[tuple[int, int]]],
) -> Iterator[Question]:
    """The questions that a sentence of the document's abstract answers.

    What came of it is answered by the evidence, which overlaps the sentence; what was compared by a sentence
    that names it. A prompt that lacks one of the three makes no question.

    Args:
        evidence: prompt to spans of the document's text.
    """
    for prompt in prompts:
        if not (prompt.intervention and prompt.comparator and prompt.outcome):
            continue
        for aspect, wording in QUESTIONS.items():
            if aspect == "outcome":
                answers = _overlapping(document, evidence.get(prompt.id, ()))
            else:
                answers = _naming(document, _words(getattr(prompt, aspect)))
            if answers:
                text = wording.format(**prompt._asdict())
                yield Question(f"{prompt.id} {aspect}", text, aspect, document.id, answers)


def _sentence(
    article: Article, start: int, end: int, phrases: Mapping[str, Sequence[str]]
) -> LabelledSentence:
    text = article.text[start:end]
    start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    said = _words(text)
    aspects: Aspects = frozenset(
        aspect for aspect, named in phrases.items() if any(words in said for words in named)
    )
    return LabelledSentence(article.text[start:end], start, end, aspects)


def _words(text: str) -> str:
    """The words in small letters, a blank around each; "" where there are none.

    >>> _words("Vitamin-D3 (oral)"), _words("...")
    (' vitamin d3 oral ', '')
    """
    words = _WORD.findall(text.lower())
    return f" {' '.join(words)} " if words else ""


def _overlapping(document: LabelledDocument, spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    return frozenset(
        at
        for at, sentence in enumerate(document.candidates)
        if any(start < sentence.end and sentence.start < end for start, end in spans)
    )


def _naming(document: LabelledDocument, words: str) -> frozenset[int]:
    return frozenset(
        at for at, sentence in enumerate(document.candidates) if words and words in _words(sentence.text)
    )
