"""How the latency of a search by an aspect is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import speed_aspect

from trifuse.encoder.spaces import EncoderSpace

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")


def test_both_ways_in_turn_and_who_goes_first_alternates() -> None:
    """An aspect takes 4 ms, the peer 2 ms."""
    asked: list[tuple[str, str, int]] = []

    def way(name: str, seconds: float) -> Callable[[str, int], Any]:
        def search(text: str, number: int) -> None:
            asked.append((name, text, number))
            time.sleep(seconds)

        return search

    ratios = speed_aspect.latency(way("ours", 0.004), way("peer", 0.002), ["a", "b"], rounds=10)
    assert list(ratios) == ["p50", "p95"]
    assert ratios["p50"].ratio == pytest.approx(2.0, rel=0.5)
    assert asked[:4] == [("ours", "a", 0), ("peer", "a", 0), ("peer", "b", 1), ("ours", "b", 1)]
    assert [name for name, *_ in asked[4:8]] == ["peer", "ours", "ours", "peer"]


def test_a_vector_that_is_there_already_is_the_same_for_both() -> None:
    known = speed_aspect.Known(SPACE)
    assert (known.encode_queries(["a", "b"]) == known.encode_queries(["c", "d"], "outcome")).all()
    assert known.encode_queries(["a", "b"]).shape == (2, 3)


def test_made_up_sentences_stand_in_documents_of_twenty() -> None:
    random = np.random.default_rng(0)
    vector = speed_aspect.unit(random, 1, 3)[0]
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    made = speed_aspect.sentence(random, 41, vector)
    assert (made["parent_id"], made["ordinal"]) == ("2", 1)
    assert made["end"] == len(made["text"])
