"""A trial by named parts: which fields of the record make the text of each part.

What a registry's curators added (MeSH terms) is no part: it is what similar trials are told by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.parts import split_parts
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.indexer.trial import trial_template

TRIAL_PARTS: Mapping[str, tuple[str, ...]] = {
    "title": ("brief_title", "official_title"),
    "intervention": ("interventions.name",),
    "condition": ("conditions",),
    "outcome": ("primary_outcomes.measure",),
    "context": ("keywords", "brief_summary", "detailed_description", "eligibility"),
}
"""The fields of a trial's record that make each part, in their order: what stands last is cut first."""


def parts_template(parts: Sequence[str] = tuple(TRIAL_PARTS)) -> TextTemplate:
    """The template of a trial for an encoder of these parts; a part that no trial has stays empty.

    Raises:
        ValueError: a trial has none of them.
    """
    fields = [(field, part) for part in parts for field in TRIAL_PARTS.get(part, ())]
    if not fields:
        raise ValueError(f"a trial has none of the parts {', '.join(parts)}, but {', '.join(TRIAL_PARTS)}")
    return TextTemplate(tuple(field for field, _ in fields), parts=tuple(part for _, part in fields))


def template_for(encoder: EncoderSpace, pair_separator: str = "") -> TextTemplate:
    """The template of a trial that an encoder goes by unless another is asked for.

    Args:
        pair_separator: the model's token between the two texts of a pair; "" where it knows no pairs.

    Raises:
        SpaceMismatch: the encoder takes parts of which a trial has none.
    """
    if not encoder.parts:
        return trial_template(pair_separator)
    try:
        return parts_template(encoder.parts)
    except ValueError as error:
        raise SpaceMismatch(f"the encoder {encoder.encoder!r} isn't one of trials: {error}") from error


def trial_parts(source: Mapping[str, Any]) -> dict[str, str]:
    """The clean texts of a trial's parts, of those that it has.

    Args:
        source: as `Trial.source` gives it, or a document of an index of trials.

    >>> trial_parts({"brief_title": "A", "conditions": ["x", "y"], "condition_mesh": ["z"]})
    {'title': 'A', 'condition': 'x; y'}
    """
    text = build_text(source, parts_template())
    return split_parts(text) if text else {}
