"""Documents whose sentences, or tokens, are labelled with the aspects that they tell of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Aspects = frozenset[str]
"""Which of `trifuse.encoder.aspects.ASPECTS` a sentence or a token has; often none, sometimes several."""


class LabelledTokens(NamedTuple):
    """A document as it was annotated.

    Args:
        tokens: words and punctuation in reading order; the title comes first.
        labels: the aspects of each token, as many as tokens.
        ends: after how many tokens a run of whole sentences ends: increasing, the last is that of all tokens.
        split: `train`, `dev`, `test`, or "" where the source has none.
        source: what it was made from, or "".
    """

    id: str
    tokens: tuple[str, ...]
    labels: tuple[Aspects, ...]
    ends: tuple[int, ...]
    split: str = ""
    source: str = ""


class LabelledSentence(NamedTuple):
    """A sentence: `text` is its document's text from `start` to `end`, in characters (code points)."""

    text: str
    start: int
    end: int
    aspects: Aspects


class LabelledDocument(NamedTuple):
    """A document in sentences, of which the first is the title: the topic, and no candidate.

    Args:
        sentences: in reading order; none where the text is empty.
        split, source: as in `LabelledTokens`.
        asked: the aspects that it may be asked for: that a sentence lacks one of them is known. Others that
            its sentences have are only known where they are labelled. None: all that are asked for at all.
    """

    id: str
    text: str
    sentences: tuple[LabelledSentence, ...]
    split: str = ""
    source: str = ""
    asked: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """The topic of what is asked for: the first sentence, "" where there is none."""
        return self.sentences[0].text if self.sentences else ""

    @property
    def candidates(self) -> tuple[LabelledSentence, ...]:
        """What is searched: all sentences but the title, those of several aspects or of none among them."""
        return self.sentences[1:]

    def asks(self, aspects: Sequence[str]) -> tuple[str, ...]:
        """Those of some aspects that it may be asked for."""
        return tuple(aspect for aspect in aspects if self.asked is None or aspect in self.asked)
