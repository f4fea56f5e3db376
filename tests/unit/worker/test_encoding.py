"""A batch of which one text makes the model fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.errors import EncodingFailed
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoding
from trifuse.worker.encoding import encode_each


class Fragile:
    """A text's vector is its length, twice; fails on every batch with a text that starts with `!`."""

    space = EncoderSpace("test", "1", "fp32", "cls", 2, True, "cosine")
    provider = "cpu"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[Any], *, role: str) -> Encoding:
        self.calls.append(list(texts))
        if any(text.startswith("!") for text in texts):
            raise EncodingFailed("out of memory")
        vectors = np.array([[len(text)] * 2 for text in texts], dtype=np.float32)
        rejected = {row: "it is a question" for row, text in enumerate(texts) if text == "?"}
        return Encoding(vectors, np.array([len(text) > 3 for text in texts]), rejected)


def test_all_go_in_one_call() -> None:
    encoder = Fragile()
    encoding = encode_each(encoder, ["a", "bb"], "document", field="v")
    assert (encoder.calls, encoding.vectors.tolist()) == ([["a", "bb"]], [[1, 1], [2, 2]])
    assert encoding.rejected == {}


def test_one_that_fails_does_not_take_the_others_with_it() -> None:
    encoder = Fragile()
    encoding = encode_each(encoder, ["a", "!", "long", "?", ""], "document", field="v")
    assert encoding.vectors[[0, 2]].tolist() == [[1, 1], [4, 4]]
    assert encoding.truncated.tolist() == [False, False, True, False, False]
    assert encoding.rejected == {
        1: "the model fails on it: out of memory",
        3: "it is a question",
        4: "the vector for field 'v' can't be used: it is all zeros",
    }
    assert len(encoder.calls) == 6  # all together, then each alone


def test_a_model_that_fails_on_everything_is_no_fault_of_the_texts() -> None:
    with pytest.raises(EncodingFailed):
        encode_each(Fragile(), ["!a", "!b"], "document", field="v")


def test_one_alone_that_fails_is_rejected() -> None:
    encoding = encode_each(Fragile(), ["!"], "document", field="v")
    assert encoding.rejected == {0: "the model fails on it: out of memory"}
