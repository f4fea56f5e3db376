"""Sentences: how texts are split into them, and the index that holds one document a sentence."""

from __future__ import annotations

from trifuse.indexer.sentences.split import Sentence, sentences_of

__all__ = ["Sentence", "sentences_of"]
