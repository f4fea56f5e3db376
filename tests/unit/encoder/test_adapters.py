"""Adapters: what they make of a query, what they refuse, and what several share.

A text's vector is the mean of its words' rows, [CLS] and [SEP] being zeros: that of "a" is (4, 0) / 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder import load_encoder
from trifuse.encoder.adapter_files import find_adapter
from trifuse.encoder.adapters import AspectEncoder, adapters_for, load_adapter
from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import AspectUnknown, InvalidText, ModelInvalid, ModelNotFound, SpaceMismatch

WORDS = {"a": (4.0, 0.0), "b": (0.0, 8.0), "who:": (2.0, 2.0)}

# The product is added to the identity: (x, y) becomes (x, y + x), or (x + 3 y, y).
POPULATION = ([[1.0], [0.0]], [[0.0, 1.0]])
OUTCOME = ([[0.0, 0.0], [1.0, 2.0]], [[1.0, 0.0], [1.0, 0.0]])


@pytest.fixture
def base(tiny_adapter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    folder: Path = tiny_adapter.make_base(tmp_path / "base", WORDS, name="tiny-base", max_tokens=4)
    return folder


@pytest.fixture
def make_adapter(tiny_adapter: Any, base: Path, tmp_path: Path) -> Callable[..., Path]:
    """`make_adapter(**options)`: two aspects; options of benchmarks/tiny_adapter.py."""

    def make(**options: Any) -> Path:
        turns = options.pop("turns", {"population": POPULATION, "outcome": OUTCOME})
        folder: Path = tiny_adapter.make_adapter(
            tmp_path / options.get("name", "aspects"), base, turns, **options
        )
        return folder

    return make


def test_each_aspect_turns_a_query_by_its_own_updates(make_adapter: Callable[..., Path]) -> None:
    encoder = load_adapter(str(make_adapter()), threads=1)
    assert encoder.aspects == ("population", "outcome")
    assert encoder.provider == "cpu"
    assert encoder.encode_queries(["a", "b"], "population") == pytest.approx(
        np.array([[4, 4], [0, 8]]) / 3, abs=1e-6
    )
    assert encoder.encode_queries(["a", "b"], "outcome") == pytest.approx(
        np.array([[4, 0], [24, 8]]) / 3, abs=1e-6
    )


def test_the_instruction_is_all_that_is_put_around_the_text(
    make_adapter: Callable[..., Path], base: Path
) -> None:
    folder = make_adapter(instructions={"population": "who: {text}"})
    encoder = load_adapter(str(folder))
    # [CLS] who: a [SEP], (2, 2) + (4, 0) over four tokens, turned.
    assert encoder.encode_queries(["a"], "population")[0] == pytest.approx([6 / 4, 8 / 4], abs=1e-6)
    assert encoder.encode_queries(["a"], "outcome")[0] == pytest.approx([4 / 3, 0], abs=1e-6)


def test_a_text_is_cut_where_the_base_cuts_it(make_adapter: Callable[..., Path]) -> None:
    """Four tokens: [CLS], two words, [SEP]."""
    encoder = load_adapter(str(make_adapter()))
    assert encoder.encode_queries(["b b a a a"], "outcome") == pytest.approx(
        encoder.encode_queries(["b b"], "outcome")
    )


def test_many_texts_keep_their_order(make_adapter: Callable[..., Path]) -> None:
    encoder = load_adapter(str(make_adapter()), threads=2)
    found = encoder.encode_queries(["a", "b a", "b"] * 700, "population")
    assert found[::3] == pytest.approx(np.tile([4 / 3, 4 / 3], (700, 1)), abs=1e-6)
    assert found[1::3] == pytest.approx(np.tile([4 / 4, 12 / 4], (700, 1)), abs=1e-6)
    assert encoder.encode_queries([], "population").shape == (0, 2)


def test_without_an_adapter_the_graph_is_the_base(make_adapter: Callable[..., Path], base: Path) -> None:
    encoder = load_adapter(str(make_adapter()))
    plain = OnnxEncoder(read_model(base))
    # The session's graph, with the defaults of rank 0.
    found, _ = encoder._runs.vectors(encoder._session.run, ["a b", "b"])
    assert found == pytest.approx(plain.encode_queries(["a b", "b"]), abs=0)


def test_adapters_of_one_graph_share_a_session(make_adapter: Callable[..., Path]) -> None:
    first = load_adapter(str(make_adapter()))
    turned = {"outcome": POPULATION}
    second = load_adapter(str(make_adapter(name="other", turns=turned)), beside=first)
    assert second._session is first._session
    assert second.encode_queries(["a"], "outcome")[0] == pytest.approx([4 / 3, 4 / 3], abs=1e-6)
    assert first.encode_queries(["a"], "outcome")[0] == pytest.approx([4 / 3, 0], abs=1e-6)
    assert first.revision != second.revision


def test_adapters_of_other_spaces_share_nothing(
    make_adapter: Callable[..., Path], tiny_adapter: Any, tmp_path: Path
) -> None:
    first = load_adapter(str(make_adapter()))
    unlike = tiny_adapter.make_base(tmp_path / "unlike", {**WORDS, "c": (1.0, 1.0)}, name="unlike")
    folder = make_adapter(name="other", space=read_model(unlike).space)
    assert load_adapter(str(folder), beside=first)._session is not first._session


def test_the_space_is_the_one_that_it_was_trained_against(
    make_adapter: Callable[..., Path], base: Path, tiny_adapter: Any, tmp_path: Path
) -> None:
    space = read_model(base).space
    adapter = find_adapter(str(make_adapter()))
    assert AspectEncoder(adapter).space == space
    adapter.require_space(space)
    rounded = tiny_adapter.make_base(tmp_path / "rounded", WORDS, name="tiny-base-int8", precision="int8")
    other = read_model(rounded).space
    with pytest.raises(SpaceMismatch) as caught:
        adapter.require_space(other)
    assert f"vectors of the space {space.id!r}, these are of {other.id!r}" in str(caught.value)
    assert "trifuse train aspect --encoder tiny-base-int8" in str(caught.value)


def test_the_revision_follows_all_that_moves_a_vector(make_adapter: Callable[..., Path]) -> None:
    def revision(**options: Any) -> str:
        return find_adapter(str(make_adapter(**options))).description.revision("fp32")

    plain = revision()
    assert revision(name="again") == plain
    assert revision(name="worded", instructions={"outcome": "who: {text}"}) != plain
    assert revision(name="turned", turns={"population": POPULATION, "outcome": POPULATION}) != plain


def test_an_aspect_that_it_does_not_know_is_refused(make_adapter: Callable[..., Path]) -> None:
    encoder = load_adapter(str(make_adapter()))
    with pytest.raises(AspectUnknown, match=r"'comparator' here: give one of population, outcome"):
        encoder.encode_queries(["a"], "comparator")


def test_a_text_that_is_none_is_refused(make_adapter: Callable[..., Path]) -> None:
    encoder = load_adapter(str(make_adapter()))
    with pytest.raises(InvalidText, match=r"1 of 2 texts can't be encoded \(1: the text is empty\)"):
        encoder.encode_queries(["a", " "], "outcome")


def test_neither_a_name_nor_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"no adapter 'nothing': give an adapter's folder, or one of"):
        load_adapter("nothing")
    with pytest.raises(ModelInvalid, match=r"does not describe an adapter: .*trifuse train aspect"):
        load_adapter(str(tmp_path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"files": {}}, "files lacks outcome.onnx_adapter, population.onnx_adapter"),
        ({"aspects": {}}, "it has no aspects"),
        ({"name": "No Name"}, "name"),
        ({"unknown": 1}, "unknown field"),
    ],
)
def test_a_description_that_contradicts_itself(
    make_adapter: Callable[..., Path], change: dict[str, Any], said: str
) -> None:
    folder = make_adapter()
    file = folder / "aspects.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ModelInvalid, match=said):
        load_adapter(str(folder))


def test_a_space_that_is_not_what_its_id_says(make_adapter: Callable[..., Path]) -> None:
    file = make_adapter() / "aspects.json"
    content = json.loads(file.read_text())
    content["space"]["dimension"] = 3
    file.write_text(json.dumps(content))
    with pytest.raises(ModelInvalid, match=r"space has the id 'tiny-base-.*', but its content is of"):
        load_adapter(str(file.parent))


def test_a_space_without_an_id(make_adapter: Callable[..., Path]) -> None:
    file = make_adapter() / "aspects.json"
    content = json.loads(file.read_text())
    del content["space"]["id"]
    file.write_text(json.dumps(content))
    with pytest.raises(ModelInvalid, match=r"space has the id None, but its content is of 'tiny-base-"):
        load_adapter(str(file.parent))


@pytest.mark.parametrize("name", ["~nobody-of-that-name/x", "x" * 5000, "no\0path", "\udcff"])
def test_a_name_that_can_be_no_folder(name: str) -> None:
    with pytest.raises(ModelNotFound, match="no adapter '"):
        load_adapter(name)
    with pytest.raises(ModelNotFound, match="no model '"):
        load_encoder(name)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_updates_whose_vectors_are_no_numbers(make_adapter: Callable[..., Path], number: float) -> None:
    folder = make_adapter(turns={"outcome": ([[number] * 2, [number] * 2], [[number] * 2] * 2)})
    with pytest.raises(ModelInvalid, match=r"outcome.onnx_adapter give vectors with NaN.*train the adapter"):
        load_adapter(str(folder))


@pytest.mark.parametrize(
    ("down", "up"),
    [
        ([[1.0], [0.0], [0.0]], [[1.0, 0.0]]),  # of a model of three dimensions
        ([[1.0], [0.0]], [[1.0, 0.0], [0.0, 1.0]]),  # of two ranks
    ],
)
def test_updates_that_do_not_fit_the_graph(
    make_adapter: Callable[..., Path], down: list[list[float]], up: list[list[float]]
) -> None:
    folder = make_adapter(turns={"outcome": (down, up)})
    with pytest.raises(ModelInvalid, match=r"outcome.onnx_adapter don't fit the graph .*'tiny-aspects'"):
        load_adapter(str(folder))


def test_an_instruction_without_a_place_for_the_text(make_adapter: Callable[..., Path]) -> None:
    file = make_adapter() / "aspects.json"
    content = json.loads(file.read_text())
    content["aspects"]["outcome"]["instruction"] = "results"
    file.write_text(json.dumps(content))
    with pytest.raises(ModelInvalid, match=r"the instruction 'results' lacks \{text\}"):
        load_adapter(str(file.parent))


@pytest.mark.parametrize("damage", [b"", b"no adapter"])
def test_updates_that_are_not_the_described_ones(make_adapter: Callable[..., Path], damage: bytes) -> None:
    folder = make_adapter()
    (folder / "outcome.onnx_adapter").write_bytes(damage)
    with pytest.raises(
        ModelInvalid, match=r"outcome.onnx_adapter is missing, or isn't the file .*'tiny-aspects'"
    ):
        load_adapter(str(folder))


def test_a_base_that_is_another_model(
    make_adapter: Callable[..., Path], base: Path, tiny_adapter: Any
) -> None:
    folder = make_adapter()
    tiny_adapter.make_base(base, {**WORDS, "c": (1.0, 1.0)})
    with pytest.raises(
        ModelInvalid, match=r"for the base '.*' of the space 'tiny-base-.*, but what stands there is"
    ):
        load_adapter(str(folder))


def test_a_graph_that_was_damaged_is_made_again(make_adapter: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_adapter()
    load_adapter(str(folder))
    (graph,) = (tmp_path / "cache" / "graphs").glob("*.onnx")
    whole = graph.read_bytes()
    graph.write_bytes(whole[:100])
    load_adapter(str(folder))
    assert graph.read_bytes() == whole


def test_no_adapter_is_known_for_a_strange_space(base: Path) -> None:
    assert adapters_for(read_model(base).space) == []
