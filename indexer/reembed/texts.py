"""Which texts another encoder is given: those that there are, or by parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.behind import Index
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.sentences.attach import holds_trials
from trifuse.indexer.sentences.origin import origin_in_meta
from trifuse.indexer.trial_parts import template_for


def wanted_template(
    index: Index,
    present: TextTemplate,
    encoder: EncoderSpace,
    *,
    text: Sequence[str] = (),
    parts: Sequence[str] = (),
) -> TextTemplate:
    """The template of an index's texts for an encoder.

    From plain texts to parts, and back, trials go by what `trifuse load` takes; sentences stay whole.

    Args:
        present: the template that its texts are made by now.
        text: other fields to embed than now.
        parts: for an encoder of parts, the part of each of these.

    Raises:
        ReembedRefused: it takes parts, and which field is which part isn't known.
    """
    if text:
        whole = replace(present, fields=tuple(text), parts=(), local=False)
        return replace(whole, parts=tuple(parts), max_chars=None) if parts else whole
    if bool(present.parts) == bool(encoder.parts) or origin_in_meta(index.meta) is not None:
        return present
    if holds_trials(index):
        return template_for(encoder)
    if not encoder.parts:
        return replace(present, fields=tuple(dict.fromkeys(present.fields)), parts=())
    raise ReembedRefused(
        f"{index.name!r} has texts of {', '.join(present.fields)}, but the encoder {encoder.encoder!r} takes "
        f"the parts {', '.join(encoder.parts)}: name the fields of each, such as --text "
        f"{encoder.parts[0]}={present.fields[0]}"
    )
