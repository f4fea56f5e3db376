"""Which adapter a search takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from trifuse.encoder.errors import AspectUnknown, SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.aspects import Adapters, OfAspect
from trifuse.ranker.clicks.past_queries import query_space
from trifuse.ranker.errors import BodyError

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
OTHER = EncoderSpace("other", "r1", "fp32", "cls", 3, True, "cosine")


class Tiny:
    """Says for which aspect it was asked."""

    provider = "cpu"
    revision = "abc"

    def __init__(
        self,
        name: str = "pio",
        space: EncoderSpace = SPACE,
        aspects: Sequence[str] = ("population", "outcome"),
    ) -> None:
        self.name, self.space, self.aspects = name, space, aspects
        self.asked: list[tuple[list[str], str]] = []

    def encode_queries(self, texts: Sequence[str], aspect: str) -> Vectors:
        self.asked.append((list(texts), aspect))
        return np.ones((len(texts), 3), dtype=np.float32)


def test_the_only_one() -> None:
    adapter = Tiny()
    assert Adapters(adapter).of(SPACE, "outcome") is adapter


def test_the_first_of_the_space_that_knows_the_aspect() -> None:
    given = [Tiny("a", OTHER), Tiny("b", aspects=("population",)), Tiny("c"), Tiny("d")]
    adapters = Adapters(given)
    assert adapters.of(SPACE, "population") is given[1]
    assert adapters.of(SPACE, "outcome") is given[2]
    assert adapters.of(SPACE, "outcome", name="d") is given[3]
    assert adapters.of(OTHER, "outcome") is given[0]


def test_what_loads_them_is_asked_once_a_space() -> None:
    asked = []

    def load(space: EncoderSpace) -> list[Tiny]:
        asked.append(space)
        return [Tiny(space=space)]

    adapters = Adapters(load)
    first = adapters.of(SPACE, "outcome")
    assert adapters.of(SPACE, "population") is first
    assert adapters.of(OTHER, "outcome") is not first
    assert asked == [SPACE, OTHER]


def test_an_unknown_aspect_lists_the_known_ones() -> None:
    adapters = Adapters(
        [Tiny(aspects=("population",)), Tiny(aspects=("outcome",)), Tiny(space=OTHER, aspects=("dose",))]
    )
    with pytest.raises(AspectUnknown, match=r"'dose'.*: give one of population, outcome$"):
        adapters.of(SPACE, "dose")


def test_another_space_is_refused_by_both_names_with_the_remedy() -> None:
    with pytest.raises(SpaceMismatch) as raised:
        Adapters(Tiny(space=OTHER)).of(SPACE, "outcome")
    told = str(raised.value)
    assert repr(SPACE.id) in told
    assert f"the adapter 'pio' is for {OTHER.id!r}" in told
    assert "trifuse train aspect" in told


@pytest.mark.parametrize("given", [None, [], lambda space: []])
def test_no_adapter_for_a_space(given: object) -> None:
    with pytest.raises(SpaceMismatch, match=f"{SPACE.id}', and no adapter is known for it: train one"):
        Adapters(given).of(SPACE, "outcome")  # type: ignore[arg-type]


def test_a_name_that_none_has() -> None:
    with pytest.raises(BodyError, match="no adapter 'nope' is at hand: there is a, b"):
        Adapters([Tiny("b"), Tiny("a")]).of(SPACE, "outcome", name="nope")


def test_one_aspect_as_an_encoder_of_queries() -> None:
    adapter = Tiny()
    encoder = OfAspect(adapter, "outcome")
    assert encoder.encode_queries(["stroke"]).shape == (1, 3)
    assert adapter.asked == [(["stroke"], "outcome")]
    assert encoder.provider == "cpu"
    assert encoder.space.as_dict() == SPACE.as_dict()
    assert encoder.space.as_dict("query") != SPACE.as_dict("query")
    assert encoder.space != OfAspect(adapter, "population").space


def test_past_queries_of_the_click_log_are_in_another_space_than_an_aspects_vectors() -> None:
    assert query_space(OfAspect(Tiny(), "outcome").space).id != query_space(SPACE).id


def test_documents_are_not_encoded_for_an_aspect() -> None:
    encoder = OfAspect(Tiny(), "outcome")
    with pytest.raises(SpaceMismatch, match="'pio' encodes queries alone"):
        encoder.encode_documents(["stroke"])
    with pytest.raises(SpaceMismatch, match="'pio' encodes queries alone"):
        encoder.encode(["stroke"], role="document")
