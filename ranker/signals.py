"""What a query's text becomes before anything is searched: a vector, and click evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trifuse.encoder.templates import clean_text
from trifuse.encoder.types import Encoder, Vectors
from trifuse.ranker.clicks import ClickEvidence, SimilarQuery
from trifuse.ranker.profiles import Profile
from trifuse.ranker.target import Target
from trifuse.ranker.types import ClickLookup, LegReport

_NO_EVIDENCE = ClickEvidence()


@dataclass(frozen=True)
class Signals:
    """What the legs beside the lexical one search by.

    Args:
        vector: (dim,) float32 of the text, or None.
        dense: how the dense leg stands: `ok` where there is a vector to search with.
        clicked: document id to evidence.
        clicks: how the click leg stands: `ok` where there is evidence.
        past_queries: where the evidence comes from, the heaviest first.
    """

    vector: Vectors | None
    dense: LegReport
    clicked: Mapping[str, float]
    clicks: LegReport
    past_queries: tuple[SimilarQuery, ...] = ()


def read_signals(
    text: str, target: Target, profile: Profile, encoder: Encoder | None, clicks: ClickLookup | None
) -> Signals:
    """Encode the text and look up its clicks; what is missing is reported, not raised.

    Raises:
        SpaceMismatch: the index's vectors are in another space than the encoder's.
    """
    wanted = [leg for leg in ("dense", "clicks") if profile.weights[leg] > 0]
    if encoder is not None and "dense" in wanted:
        target.require_space(profile.vector_field, encoder.space)
    blank = not clean_text(text)
    vector, encoded = None, LegReport("skipped", "the text is empty")
    if encoder is None:
        encoded = LegReport("off", "no encoder")
    elif wanted and not blank:
        vector, encoded = _encode(encoder, text)
    dense = encoded
    if "dense" not in wanted:
        dense = LegReport("off", f"weight 0 in the profile {profile.name!r}")
    elif target.space_of(profile.vector_field) is None:
        dense = LegReport(
            "off", f"{target.expression!r} has no vectors in the field {profile.vector_field!r}"
        )
    evidence, report = _clicks(text, vector, target, profile, encoder, clicks, blank=blank)
    return Signals(vector, dense, evidence.scores, report, evidence.queries)


def _encode(encoder: Encoder, text: str) -> tuple[Vectors | None, LegReport]:
    started = time.perf_counter()
    try:
        vector = encoder.encode_queries([text])[0]
    except Exception as error:  # noqa: BLE001 - whatever a model raises, the other legs answer
        why = f"the encoder failed: {str(error) or type(error).__name__}"
        return None, LegReport("failed", why, _ms(started))
    if vector.shape != (encoder.space.dimension,) or not np.isfinite(vector).all():
        return None, LegReport("failed", "the encoder gave no usable vector for the text", _ms(started))
    return vector, LegReport("ok", took_ms=_ms(started))


def _clicks(
    text: str,
    vector: Vectors | None,
    target: Target,
    profile: Profile,
    encoder: Encoder | None,
    clicks: ClickLookup | None,
    *,
    blank: bool,
) -> tuple[ClickEvidence, LegReport]:
    if clicks is None:
        return _NO_EVIDENCE, LegReport("off", "no click store")
    if profile.weights["clicks"] == 0:
        return _NO_EVIDENCE, LegReport("off", f"weight 0 in the profile {profile.name!r}")
    if not target.is_one_name:
        return _NO_EVIDENCE, LegReport(
            "off", "clicks belong to one index or alias, and this is a pattern or a list"
        )
    if blank:
        return _NO_EVIDENCE, LegReport("skipped", "the text is empty")
    space = encoder.space if encoder is not None and vector is not None else None
    evidence = clicks.lookup(target.expression, text, vector, space=space, budget_s=profile.click_budget_s)
    took = round(evidence.took_ms)
    if evidence.state == "neutral":
        return _NO_EVIDENCE, LegReport("failed", evidence.reason, took)
    if not evidence.scores:
        return _NO_EVIDENCE, LegReport(
            "empty", evidence.reason or "no clicks for this query or similar ones", took
        )
    return evidence, LegReport("ok", evidence.reason, took)


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
