"""What a query's text becomes before anything is searched: a vector."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import clean_text
from trifuse.encoder.types import Encoder, Vectors
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.target import Target
from trifuse.ranker.types import LegReport


@dataclass(frozen=True)
class Encoded:
    """A query's text as a vector.

    Args:
        vector: (dim,) float32 of the text, or None.
        space: the space that it is in; None without a vector.
        dense: how the dense leg stands: `ok` where there is a vector to search with.
    """

    vector: Vectors | None
    space: EncoderSpace | None
    dense: LegReport


def encode(text: str, target: Target, profile: Profile, encoder: Encoder | None) -> Encoded:
    """Encode the text for the dense and the click leg; what is missing is reported, not raised.

    Raises:
        SpaceMismatch: the index's vectors are in another space than the encoder's.
    """
    field = target.field_of(profile.vector_field)
    wanted = [leg for leg in ("dense", "clicks") if profile.weights[leg] > 0]
    if encoder is not None and "dense" in wanted:
        target.require_space(field, encoder.space)
    vector = None
    if encoder is None:
        report = LegReport("off", "no encoder")
    elif wanted and clean_text(text):
        vector, report = _encode(encoder, text)
    else:
        report = LegReport("skipped", "the text is empty")
    if "dense" not in wanted:
        report = LegReport("off", f"weight 0 in the profile {profile.name!r}")
    elif target.space_of(field) is None:
        report = LegReport("off", _no_vectors(target, profile, field))
    return Encoded(vector, encoder.space if encoder is not None and vector is not None else None, report)


def _no_vectors(target: Target, profile: Profile, field: str) -> str:
    """Why there is nothing to search; also where an index was embedded anew, and the profile wasn't told."""
    why = f"{target.expression!r} has no vectors in the field {field!r}"
    if target.serving is None:
        return f"{why}: `trifuse attach` adds some"
    if profile.vector_field is None:
        return why
    return (
        f"{why}, which the profile {profile.name!r} names: it is served by {target.serving!r} now; set the "
        "profile's vector_field to null, and it goes by what is served"
    )


def _encode(encoder: Encoder, text: str) -> tuple[Vectors | None, LegReport]:
    started = time.perf_counter()
    try:
        vector = encoder.encode_queries([text])[0]
    except Exception as error:  # noqa: BLE001 - whatever a model raises, the other legs answer
        why = f"the encoder failed: {str(error) or type(error).__name__}"
        return None, LegReport("failed", why, _ms(started))
    if vector.shape != (encoder.space.dimension,) or not _is_finite(vector):
        return None, LegReport("failed", "the encoder gave no usable vector for the text", _ms(started))
    return vector, LegReport("ok", took_ms=_ms(started))


def _is_finite(vector: Vectors) -> bool:
    # A finite sum has finite terms, and is found in half the time. NumPy's own warns where it overflows.
    return math.isfinite(sum(vector.tolist())) or bool(np.isfinite(vector).all())


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
