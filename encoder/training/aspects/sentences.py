"""Labelled tokens to labelled sentences: the text that tokens stand for, its sentences, and their aspects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from trifuse.encoder.training.aspects.labelled import (
    Aspects,
    LabelledDocument,
    LabelledSentence,
    LabelledTokens,
)

Split = Callable[[str], Iterable[tuple[int, int]]]
"""A text to where its sentences start and end, in reading order."""

_CLOSES = frozenset(".,;:!?)]}%")
_OPENS = frozenset("([{")


def labelled_sentences(document: LabelledTokens, split: Split) -> LabelledDocument:
    """The document's text in sentences, each with the aspects of its tokens.

    A sentence ends where the document says so, and where `split` finds an end between: documents' own ends
    are sometimes those of several sentences. What `split` leaves out (white space, bullets) is in none.

    >>> from trifuse.encoder.training.aspects.labelled import LabelledTokens
    >>> none, whom = frozenset[str](), frozenset({"population"})
    >>> tokens = LabelledTokens("1", ("Sixty", "men", "(", "old", ")", "."), (whom, whom, *[none] * 4), (6,))
    >>> labelled_sentences(tokens, lambda text: [(0, len(text))]).sentences[0].text
    'Sixty men (old).'
    """
    text, spans = text_of(document.tokens)
    sentences: list[LabelledSentence] = []
    first = 0
    for end in document.ends:
        run, labels = spans[first:end], document.labels[first:end]
        if run:
            sentences.extend(_sentences_of_run(text, run, labels, split))
        first = end
    return LabelledDocument(document.id, text, tuple(sentences), document.split, document.source)


def text_of(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text that tokens stand for, and where each one stands in it.

    Tokens are parted by a space, but for punctuation that closes (`.,;:!?)]}%`) and after brackets that open.
    """
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at, opened = 0, True
    for token in tokens:
        word = token.strip()
        if word and not opened and not _CLOSES.issuperset(word):
            parts.append(" ")
            at += 1
        spans.append((at, at + len(word)))
        parts.append(word)
        at += len(word)
        opened = not at or (word in _OPENS if word else opened)
    return "".join(parts), spans


def sentence_aspects(labels: Iterable[Aspects]) -> Aspects:
    """The aspects of a sentence, by its tokens': each that at least one of them has."""
    return frozenset().union(*labels)


def _sentences_of_run(
    text: str, run: Sequence[tuple[int, int]], labels: Sequence[Aspects], split: Split
) -> Iterator[LabelledSentence]:
    base = run[0][0]
    at = 0
    for start, end in split(text[base : run[-1][1]]):
        start, end = base + start, base + end
        while at < len(run) and run[at][1] <= start:
            at += 1
        here = at
        while at < len(run) and run[at][0] < end:
            at += 1
        yield LabelledSentence(text[start:end], start, end, sentence_aspects(labels[here:at]))
