"""Entities of medical texts, their names and their kin: what negatives and positives of texts are made by."""

from __future__ import annotations

from trifuse.encoder.training.entities.concepts import Concept
from trifuse.encoder.training.entities.dictionary import DictionarySource
from trifuse.encoder.training.entities.records import concepts_of_records
from trifuse.encoder.training.entities.source import Entity, EntitySource
from trifuse.encoder.training.entities.swaps import Swapped, swap
from trifuse.encoder.training.entities.umls import read_umls

__all__ = [
    "Concept",
    "DictionarySource",
    "Entity",
    "EntitySource",
    "Swapped",
    "concepts_of_records",
    "read_umls",
    "swap",
]
