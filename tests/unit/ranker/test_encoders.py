from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker.encoders import Encoders

OLD = EncoderSpace("old", "r1", "fp32", "cls", 2, True, "cosine")
NEW = EncoderSpace("new", "r1", "fp32", "cls", 3, True, "cosine")


class Encoder:
    provider = "cpu"

    def __init__(self, space: EncoderSpace) -> None:
        self.space = space

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError


def test_one_encoder_is_taken_whatever_the_space() -> None:
    one = Encoder(OLD)
    assert Encoders(one).of(OLD) is one
    assert Encoders(one).of(NEW) is one  # and refused where vectors are compared
    assert Encoders(one).of(None) is one
    assert Encoders(None).of(OLD) is None


def test_of_several_the_one_of_the_space_is_taken() -> None:
    old, new = Encoder(OLD), Encoder(NEW)
    encoders = Encoders([old, new])
    assert encoders.of(NEW) is new
    assert encoders.of(OLD) is old
    assert encoders.of(None) is old
    assert encoders.of(replace(NEW, revision="r2")) is old
    assert Encoders([]).of(OLD) is None


def test_another_query_tower_is_of_the_same_space() -> None:
    old, tower = Encoder(OLD), Encoder(replace(NEW, query_tower="q"))
    assert Encoders([old, tower]).of(NEW) is tower


def test_a_function_makes_the_encoder_of_a_space_once() -> None:
    asked = []

    def make(space: EncoderSpace) -> Encoder | None:
        asked.append(space)
        return Encoder(space) if space == OLD else None

    encoders = Encoders(make)
    first = encoders.of(OLD)
    assert first is not None and first.space == OLD
    assert encoders.of(OLD) is first
    assert encoders.of(NEW) is None
    assert encoders.of(NEW) is None  # it may be there later
    assert encoders.of(None) is None
    assert asked == [OLD, NEW, NEW]
