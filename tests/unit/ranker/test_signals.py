from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker.clicks import ClickEvidence
from trifuse.ranker.profiles import Profile
from trifuse.ranker.signals import Signals, read_signals
from trifuse.ranker.target import Target, read_target
from trifuse.ranker.types import LegReport

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
META = meta_with_space(None, "trifuse_vector", Space(SPACE, TextTemplate(("title",))))


def target(expression: str = "i", *, meta: Any = META) -> Target:
    return read_target(expression, {"i": {"mappings": {"_meta": meta}}})


class Encoder:
    """Gives one vector, or raises."""

    provider = "cpu"

    def __init__(self, vector: Any = (0.0, 1.0, 0.0), space: EncoderSpace = SPACE) -> None:
        self.vector, self.space, self.calls = vector, space, 0

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if isinstance(self.vector, Exception):
            raise self.vector
        return np.array([self.vector], dtype=np.float32)


class Clicks:
    """Gives one answer, and keeps what it was asked."""

    def __init__(self, evidence: ClickEvidence) -> None:
        self.evidence = evidence
        self.asked: list[tuple[Any, ...]] = []

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
    ) -> ClickEvidence:
        self.asked.append((index, text, vector is not None, space, budget_s))
        return self.evidence


def read(text: str = "asthma", **given: Any) -> Signals:
    settings = {"target": target(), "profile": Profile(), "encoder": Encoder(), "clicks": None, **given}
    return read_signals(text, **settings)


def test_both_signals() -> None:
    clicks = Clicks(ClickEvidence({"1": 0.5}, took_ms=3.4))
    found = read(clicks=clicks, profile=Profile(click_budget_s=0.1))
    assert found.vector is not None
    assert found.vector.tolist() == [0.0, 1.0, 0.0]
    assert found.dense.state == "ok"
    assert found.clicked == {"1": 0.5}
    assert found.clicks == LegReport("ok", None, 3)
    assert clicks.asked == [("i", "asthma", True, SPACE, 0.1)]


def test_no_encoder() -> None:
    clicks = Clicks(ClickEvidence({"1": 1.0}, state="partial", reason="only the same query was looked up"))
    found = read(encoder=None, clicks=clicks)
    assert found.vector is None
    assert found.dense == LegReport("off", "no encoder")
    assert found.clicks == LegReport("ok", "only the same query was looked up")
    assert clicks.asked == [("i", "asthma", False, None, 0.3)]


def test_no_vectors_in_the_index() -> None:
    found = read(target=target(meta=None))
    assert (found.dense.state, found.dense.reason) == (
        "off",
        "'i' has no vectors in the field 'trifuse_vector'",
    )


@pytest.mark.parametrize("text", ["", "  \n", "\x00"])
def test_f15_without_a_text_there_is_nothing_to_go_by(text: str) -> None:
    clicks, encoder = Clicks(ClickEvidence()), Encoder()
    found = read(text, clicks=clicks, encoder=encoder)
    assert found.dense == found.clicks == LegReport("skipped", "the text is empty")
    assert (clicks.asked, encoder.calls) == ([], 0)


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (RuntimeError("out of memory"), "the encoder failed: out of memory"),
        (KeyError(), "the encoder failed: KeyError"),
        ((1.0, 2.0), "no usable vector"),
        ((1.0, 2.0, float("nan")), "no usable vector"),
    ],
)
def test_an_encoder_that_fails_leaves_the_leg_out(vector: Any, reason: str) -> None:
    found = read(encoder=Encoder(vector))
    assert found.vector is None
    assert found.dense.state == "failed"
    assert reason in (found.dense.reason or "")


def test_another_space_is_an_error_before_anything_is_encoded() -> None:
    encoder = Encoder(space=EncoderSpace("tiny", "r2", "fp32", "cls", 3, True, "cosine"))
    with pytest.raises(SpaceMismatch):
        read(encoder=encoder)
    assert encoder.calls == 0


def test_c6_a_click_store_that_is_down() -> None:
    evidence = ClickEvidence(state="neutral", reason="the click store didn't answer", took_ms=300)
    assert read(clicks=Clicks(evidence)).clicks == LegReport("failed", "the click store didn't answer", 300)


def test_no_clicks() -> None:
    assert read().clicks == LegReport("off", "no click store")
    assert read(clicks=Clicks(ClickEvidence())).clicks.state == "empty"
    several = read(target=target("i,j"), clicks=Clicks(ClickEvidence({"1": 1.0})))
    assert (several.clicks.state, several.clicked) == ("off", {})


def test_a_weight_of_zero_is_no_leg() -> None:
    clicks, encoder = Clicks(ClickEvidence({"1": 1.0})), Encoder()
    found = read(clicks=clicks, encoder=encoder, profile=Profile(name="p", weights={"lexical": 1}))
    assert found.dense == found.clicks == LegReport("off", "weight 0 in the profile 'p'")
    assert (clicks.asked, encoder.calls) == ([], 0)
