"""Models with a tower for queries and a tower for documents, and pairs of a title and a text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.check import check_encoder
from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import ModelInvalid, SpaceMismatch
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import Space, meta_with_space, require_same_space, spaces_in_meta
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.encoder.tokens import TextTokenizer

DOCUMENT = {"a": (4.0, 0.0), "b": (0.0, 8.0)}
QUERY = {"a": (1.0, 1.0), "b": (2.0, 0.0)}
AS_DOCUMENT, AS_QUERY = TextTemplate(("text",)), TextTemplate(("text",), role="query")


@pytest.fixture
def towers(tmp_path: Path, make_model: Callable[..., Path]) -> Callable[..., Path]:
    """`towers(query_words, **description)`: a folder with both towers; other words, other query tower."""

    def build(query: Any = QUERY, *, name: str = "towers", **description: Any) -> Path:
        folder = make_model(tmp_path / name, DOCUMENT, query_model="query.onnx", **description)
        shutil.copy(make_model(tmp_path / "other", query) / "model.onnx", folder / "query.onnx")
        return folder

    return build


def test_each_role_has_its_tower(towers: Callable[..., Path]) -> None:
    """Means over [CLS], the words and [SEP], of which the special tokens are zeros."""
    encoder = OnnxEncoder(read_model(towers()))
    assert encoder.encode_documents(["a", "b a"]).tolist() == [
        pytest.approx([4 / 3, 0]),
        pytest.approx([1, 2]),
    ]
    assert encoder.encode_queries(["a", "b a"]).tolist() == [
        pytest.approx([1 / 3, 1 / 3]),
        pytest.approx([3 / 4, 1 / 4]),
    ]


def test_the_query_tower_is_loaded_at_the_first_query(towers: Callable[..., Path]) -> None:
    folder = towers()
    encoder = OnnxEncoder(read_model(folder))
    (folder / "query.onnx").write_bytes(b"no graph")
    encoder.encode_documents(["a"])
    with pytest.raises(ModelInvalid, match=r"query\.onnx can't be loaded"):
        encoder.encode_queries(["a"])


def test_a_query_tower_of_another_dimension_is_refused(towers: Callable[..., Path]) -> None:
    encoder = OnnxEncoder(read_model(towers({"a": (1.0, 1.0, 1.0), "b": (0.0, 0.0, 1.0)})))
    with pytest.raises(ModelInvalid, match=r"the graph query\.onnx gives vectors of 3 numbers"):
        encoder.encode_queries(["a"])


def test_a_query_tower_that_isnt_there_is_named(towers: Callable[..., Path]) -> None:
    folder = towers()
    (folder / "query.onnx").unlink()
    with pytest.raises(ModelInvalid, match=r"lacks query\.onnx"):
        read_model(folder)


@pytest.mark.parametrize("file", ["../query.onnx", "query.bin", "/query.onnx"])
def test_a_query_tower_stands_in_the_models_folder(towers: Callable[..., Path], file: str) -> None:
    folder = towers()
    path = folder / "trifuse.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"query_model": file}))
    with pytest.raises(ModelInvalid, match="query_model"):
        read_model(folder)


def test_another_query_tower_moves_the_queries_space_alone(towers: Callable[..., Path]) -> None:
    one = describe_encoder(str(towers(name="one")))
    two = describe_encoder(str(towers({"a": (9.0, 9.0), "b": (2.0, 0.0)}, name="two")))
    prefixed = describe_encoder(str(towers(name="three", query_prefix="query: ")))
    assert one.id == two.id == prefixed.id
    assert Space(one, AS_DOCUMENT).id == Space(two, AS_DOCUMENT).id == Space(prefixed, AS_DOCUMENT).id
    assert len({Space(space, AS_QUERY).id for space in (one, two, prefixed)}) == 3
    require_same_space(two, one, what="the field 'v'")
    with pytest.raises(SpaceMismatch, match="with another query tower"):
        require_same_space(two, one, what="the field 'v'", role="query")


def test_meta_names_the_query_tower(towers: Callable[..., Path]) -> None:
    encoder = describe_encoder(str(towers()))
    for template in (AS_DOCUMENT, AS_QUERY):
        meta = json.loads(json.dumps(meta_with_space(None, "v", Space(encoder, template))))
        assert meta["trifuse"]["fields"]["v"]["query_tower"] == encoder.query_tower
        assert spaces_in_meta(meta) == {"v": Space(encoder, template)}


def test_one_tower_has_the_space_that_it_had(tmp_path: Path, make_model: Callable[..., Path]) -> None:
    """Stored vectors of models with one tower stay valid: nothing of this is in their ids."""
    encoder = describe_encoder(str(make_model(tmp_path / "one", DOCUMENT)))
    assert encoder.query_tower == ""
    assert "query_tower" not in encoder.as_dict("query")
    assert "query_tower" not in Space(encoder, AS_QUERY).as_dict()


def test_the_check_tries_both_towers(towers: Callable[..., Path]) -> None:
    found = check_encoder(OnnxEncoder(read_model(towers({"a": (1.0, 1.0), "[CLS]": (2.0, 1.0)}))))
    assert (found.towers, found.roles_differ) == (2, True)


def test_a_pair_is_what_the_tokenizer_makes_of_a_pair(
    tmp_path: Path, make_model: Callable[..., Path]
) -> None:
    from tokenizers import AddedToken, Tokenizer, processors

    path = make_model(tmp_path / "tiny", DOCUMENT) / "tokenizer.json"
    pairs = Tokenizer.from_file(str(path))
    pairs.add_special_tokens([AddedToken("[SEP]", special=True)])
    pairs.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    pairs.save(str(path))
    template = TextTemplate(("title", "text"), separator=" [SEP] ")
    texts = [
        build_text(source, template)
        for source in ({"title": "a b", "text": "b b"}, {"title": "a"}, {"text": "b"})
    ]
    tokenizer = TextTokenizer(path, 16, separator="[SEP]")
    ids, mask, types = tokenizer.pad(tokenizer.tokenize(texts)[0])
    expected = pairs.encode("a b", "b b")
    assert expected.type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert (ids[0].tolist(), types[0].tolist()) == (expected.ids, expected.type_ids)
    for row, alone in ((1, "a"), (2, "b")):
        single = pairs.encode(alone)
        length = len(single.ids)
        assert (ids[row, :length].tolist(), types[row].tolist()) == (single.ids, [0] * 7)
        assert mask[row].tolist() == [1] * length + [0] * (7 - length)


def test_segments_reach_the_graph(tmp_path: Path, make_model: Callable[..., Path]) -> None:
    """The tiny graph adds 1000 times its type to every number of a token's vector."""
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    folder = make_model(tmp_path / "pair", DOCUMENT, inputs=inputs, pair_separator="[SEP]")
    encoder = OnnxEncoder(read_model(folder))
    # [CLS] a [SEP] b [SEP]: a is (4, 0); of the second text, b is (1000, 1008), the last [SEP] (1000, 1000)
    found = encoder.encode_documents(["a [SEP] b", "a"])
    np.testing.assert_allclose(found, [[2004 / 5, 2008 / 5], [4 / 3, 0]], rtol=1e-6)


def test_a_separator_that_the_tokenizer_lacks_is_refused(
    tmp_path: Path, make_model: Callable[..., Path]
) -> None:
    folder = make_model(tmp_path / "pair", DOCUMENT, pair_separator="</s>")
    with pytest.raises(ModelInvalid, match="has no token '</s>'"):
        OnnxEncoder(read_model(folder))
