"""What to call a document where only the text that was embedded is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.encoder.templates import TextTemplate, build_text


def title_of(source: Mapping[str, Any], template: TextTemplate) -> str:
    """The first field of a template that a document has a text in; "" without any.

    >>> title_of({"conditions": ["asthma", "cough"]}, TextTemplate(("brief_title", "conditions")))
    'asthma; cough'
    """
    texts = (build_text(source, TextTemplate((field,))) for field in template.fields)
    return next(filter(None, texts), "")
