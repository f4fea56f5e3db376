"""The bodies of a team that searches trials by a patient's note. Dict out, pure."""

from __future__ import annotations

from itertools import product
from typing import Any

from trifuse.ranker.body_template import PLACE

PLAIN: dict[str, Any] = {
    "query": {
        "multi_match": {
            "query": PLACE,
            "type": "most_fields",
            "fields": [
                "brief_title^3",
                "conditions^2",
                "brief_summary",
                "detailed_description",
                "eligibility",
            ],
        }
    }
}
"""What one writes on the first day: every word of the note, in the fields that matter."""

TOPIC = ("brief_title", "conditions", "keywords", "condition_mesh")
PROSE = ("brief_summary", "detailed_description")
CRITERIA = "inclusion_criteria"

CHOICES = tuple(product((0.25, 0.5, 1.0), (1.0, 2.0, 3.0)))
"""Boosts of the four topic fields and of the criteria that are tried; that of prose is 1."""


def telling_words(topic: float, criteria: float) -> dict[str, Any]:
    """A body that goes by the note's most telling words: those that are rare among the trials.

    `more_like_this` keeps the 25 words (its default) of the highest tf·idf, field by field; of 150 words of a
    note most tell nothing, and together they outweigh the disease.

    Args:
        topic: the boost of title, conditions, keywords and MeSH terms, which repeat one another.
        criteria: the boost of the inclusion criteria, which describe patients as notes do.
    """
    boosts = {**dict.fromkeys(TOPIC, topic), **dict.fromkeys(PROSE, 1.0), CRITERIA: criteria}
    return {"query": {"bool": {"should": [_alike(field, boost) for field, boost in boosts.items()]}}}


def _alike(field: str, boost: float) -> dict[str, Any]:
    wanted = {"min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": "1", "boost": boost}
    return {"more_like_this": {"fields": [field], "like": PLACE, **wanted}}
