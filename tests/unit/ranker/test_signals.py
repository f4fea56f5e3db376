from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.signals import Encoded, encode
from trifuse.ranker.target import Target, read_target
from trifuse.ranker.types import LegReport

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
META = meta_with_space(None, "trifuse_vector", Space(SPACE, TextTemplate(("title",))))


def target(*, meta: Any = META) -> Target:
    return read_target("i", {"i": {"mappings": {"_meta": meta}}})


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


def read(text: str = "asthma", **given: Any) -> Encoded:
    settings = {"target": target(), "profile": Profile(), "encoder": Encoder(), **given}
    return encode(text, **settings)


def test_a_vector_and_its_space() -> None:
    found = read()
    assert found.vector is not None
    assert found.vector.tolist() == [0.0, 1.0, 0.0]
    assert found.space == SPACE
    assert found.dense.state == "ok"


def test_no_encoder() -> None:
    assert read(encoder=None) == Encoded(None, None, LegReport("off", "no encoder"))


def test_no_vectors_in_the_index() -> None:
    """Past queries may have some all the same."""
    found = read(target=target(meta=None))
    assert (found.dense.state, found.dense.reason) == (
        "off",
        "'i' has no vectors in the field 'trifuse_vector': `trifuse attach` adds some",
    )
    assert found.vector is not None


def test_a_field_that_the_profile_names_is_gone() -> None:
    """The index was embedded anew, and is served by another field than the profile stays with."""
    pinned = Profile(name="mine", vector_field="trifuse_vector_0")
    found = read(profile=pinned)
    assert found.dense.state == "off"
    assert found.dense.reason == (
        "'i' has no vectors in the field 'trifuse_vector_0', which the profile 'mine' names: it is served by "
        "'trifuse_vector' now; set the profile's vector_field to null, and it goes by what is served"
    )


@pytest.mark.parametrize("text", ["", "  \n", "\x00"])
def test_f15_without_a_text_there_is_nothing_to_encode(text: str) -> None:
    encoder = Encoder()
    assert read(text, encoder=encoder) == Encoded(None, None, LegReport("skipped", "the text is empty"))
    assert encoder.calls == 0


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (RuntimeError("out of memory"), "the encoder failed: out of memory"),
        (KeyError(), "the encoder failed: KeyError"),
        ((1.0, 2.0), "no usable vector"),
        ((1.0, 2.0, float("nan")), "no usable vector"),
        ((1.0, float("inf"), float("-inf")), "no usable vector"),
    ],
)
def test_an_encoder_that_fails_leaves_the_leg_out(vector: Any, reason: str) -> None:
    found = read(encoder=Encoder(vector))
    assert found.vector is found.space is None
    assert found.dense.state == "failed"
    assert reason in (found.dense.reason or "")


def test_large_numbers_make_a_vector_all_the_same() -> None:
    assert read(encoder=Encoder((3e38, 3e38, 3e38))).dense.state == "ok"


def test_another_space_is_an_error_before_anything_is_encoded() -> None:
    encoder = Encoder(space=EncoderSpace("tiny", "r2", "fp32", "cls", 3, True, "cosine"))
    with pytest.raises(SpaceMismatch):
        read(encoder=encoder)
    assert encoder.calls == 0


def test_what_no_leg_wants_is_not_encoded() -> None:
    encoder = Encoder()
    found = read(encoder=encoder, profile=Profile(name="p", weights={"lexical": 1}))
    assert found.dense == LegReport("off", "weight 0 in the profile 'p'")
    assert encoder.calls == 0
    clicks_alone = read(encoder=encoder, profile=Profile(weights={"clicks": 1}))
    assert clicks_alone.dense.state == "off"
    assert clicks_alone.vector is not None
