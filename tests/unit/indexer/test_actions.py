"""Bulk actions as bytes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.indexer.actions import Action, Line, Unsendable, chunks, halves, short_floats, to_ndjson


def _line(position: int, size: int) -> Line:
    return Line(position, Action(op="delete", index="i", id=str(position)), b"x" * size)


def test_index_with_routing() -> None:
    action = Action(op="index", index="i", id="1", source={"a": "ä"}, routing="r")
    assert to_ndjson(action) == '{"index":{"_index":"i","_id":"1","routing":"r"}}\n{"a":"ä"}\n'.encode()


def test_conditional_update() -> None:
    action = Action(op="update", index="i", id="1", source={"a": None}, if_seq_no=0, if_primary_term=1)
    assert to_ndjson(action) == (
        b'{"update":{"_index":"i","_id":"1","if_seq_no":0,"if_primary_term":1}}\n{"doc":{"a":null}}\n'
    )


def test_upsert() -> None:
    action = Action(op="update", index="i", id="1", source={"a": 1}, upsert=True, retry_on_conflict=3)
    assert to_ndjson(action) == (
        b'{"update":{"_index":"i","_id":"1","retry_on_conflict":3}}\n{"doc":{"a":1},"doc_as_upsert":true}\n'
    )


def test_a_vector_is_written_as_a_list() -> None:
    vector = np.array([0.5, -1.0], np.float32)
    action = Action(op="create", index="i", id="1", source={"v": vector})
    assert to_ndjson(action).splitlines()[1] == b'{"v":[0.5,-1.0]}'


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([0.0, 0.0], "all zeros"),
        ([math.nan, 1.0], "NaN"),
        ([math.inf, 1.0], "infinity"),
        ([1e30, 1.0], "beyond float32"),
    ],
)
def test_b1_a_vector_that_no_similarity_is_defined_for(vector: list[float], reason: str) -> None:
    source = {"trifuse_vector": np.array(vector, np.float32)}
    with pytest.raises(Unsendable, match=f"'trifuse_vector'.*{reason}"):
        to_ndjson(Action(op="update", index="i", id="1", source=source))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": {"b": [1.0, math.nan]}}, "'a.b' is nan"),
        ({"a": -math.inf}, "'a' is -inf"),
        ({"a": ["x\ud800"]}, "'a' holds a lone surrogate"),
        ({"a": object()}, "object can't be written as JSON"),
    ],
)
def test_what_json_cannot_hold(source: dict[str, Any], message: str) -> None:
    """msgspec alone would write NaN as null, and lose it without a word."""
    with pytest.raises(Unsendable, match=message):
        to_ndjson(Action(op="index", index="i", id="1", source=source))


@pytest.mark.parametrize("document_id", ["", "x" * 513, "ä" * 257])
def test_an_id_that_would_fail_the_whole_request(document_id: str) -> None:
    with pytest.raises(Unsendable, match="expected 1 to 512"):
        to_ndjson(Action(op="index", index="i", id=document_id, source={}))


def test_chunks_by_bytes_and_count() -> None:
    lines = [_line(n, size) for n, size in enumerate([4, 4, 3, 20, 1, 1, 1, 1])]
    cut = [[line.position for line in chunk] for chunk in chunks(lines, max_bytes=10, max_items=3)]
    # 4+4 (+3 is 11), 3 alone (+20 is over), 20 alone though it is larger, then three by count, then the rest
    assert cut == [[0, 1], [2], [3], [4, 5, 6], [7]]


@given(st.lists(st.integers(1, 50)), st.integers(1, 60), st.integers(1, 5))
def test_chunks_lose_nothing_and_keep_the_limits(sizes: list[int], max_bytes: int, max_items: int) -> None:
    lines = [_line(n, size) for n, size in enumerate(sizes)]
    cut = list(chunks(lines, max_bytes=max_bytes, max_items=max_items))
    assert [line for chunk in cut for line in chunk] == lines
    for chunk in cut:
        assert 1 <= len(chunk) <= max_items
        assert len(chunk) == 1 or sum(len(line.data) for line in chunk) <= max_bytes


def test_halves() -> None:
    lines = [_line(n, 1) for n in range(3)]
    assert halves(lines) == (lines[:1], lines[1:])


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 37.0, 1e6])
def test_short_numbers_are_the_vector_whatever_its_scale(scale: float) -> None:
    vector = (np.random.default_rng(1).normal(size=384) * scale).astype(np.float32)
    short = np.array(short_floats(vector))
    assert np.abs(short - vector).max() <= 2**-24 * np.abs(vector).max()  # half of float32's spacing
    assert max(len(repr(number)) for number in short.tolist()) <= 17


def test_short_numbers_of_edges() -> None:
    assert short_floats(np.array([], np.float32)) == []
    assert short_floats(np.array([0.0, -0.0], np.float32)) == [0.0, 0.0]
