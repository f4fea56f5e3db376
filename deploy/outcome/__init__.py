"""Outcomes of trials, predicted from their vectors by one linear layer."""

from __future__ import annotations

from trifuse.deploy.outcome.compare import Comparison, compare
from trifuse.deploy.outcome.labels import Outcomes, read_labels
from trifuse.deploy.outcome.model import OutcomeModel, load_model, save_model
from trifuse.deploy.outcome.split import split_of
from trifuse.deploy.outcome.texts import tfidf, word_vectors

__all__ = [
    "Comparison",
    "OutcomeModel",
    "Outcomes",
    "compare",
    "load_model",
    "read_labels",
    "save_model",
    "split_of",
    "tfidf",
    "word_vectors",
]
