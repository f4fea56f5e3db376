"""Texts to vectors: models by name or folder, the spaces of their vectors, the texts that are embedded."""

from __future__ import annotations

from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder, load_encoder
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.encoder.types import Encoder, Encoding
from trifuse.encoder.vectors import check_vectors

__all__ = [
    "DEFAULT_ENCODER",
    "Encoder",
    "EncoderSpace",
    "Encoding",
    "Space",
    "TextTemplate",
    "build_text",
    "check_vectors",
    "describe_encoder",
    "load_encoder",
]
