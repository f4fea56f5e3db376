"""Sentences: how texts are split into them, and the index that holds one document a sentence."""

from __future__ import annotations

from trifuse.indexer.sentences.attach import attach_sentences
from trifuse.indexer.sentences.estimate import SentenceEstimate, estimate
from trifuse.indexer.sentences.keep import keep_sentences
from trifuse.indexer.sentences.keeper import SentenceReport
from trifuse.indexer.sentences.split import Sentence, sentences_of

__all__ = [
    "Sentence",
    "SentenceEstimate",
    "SentenceReport",
    "attach_sentences",
    "estimate",
    "keep_sentences",
    "sentences_of",
]
