"""Encoders of named parts, on a tiny model whose numbers are worked out by hand.

A part's vector is the mean over [CLS], its words and [SEP]; a document's is the title's once, the
intervention's twice, the condition's three times, the outcome's four times and the context's five times.
"""

from __future__ import annotations

import gc
import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trifuse.encoder import load_encoder
from trifuse.encoder.check import check_encoder
from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import EncodingFailed, InvalidText, ModelInvalid, SpaceMismatch
from trifuse.encoder.parts import join_parts
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.trial import TrialEncoder

WORDS = {"a": (6.0, 0.0), "b": (0.0, 12.0), "c": (3.0, 3.0), "nan": (math.nan, 0.0), "zero": (0.0, 0.0)}
NAMES = ("title", "intervention", "condition", "outcome", "context")
# [CLS] a [SEP], [CLS] b [SEP] and [CLS] c [SEP].
A, B, C = np.array([2.0, 0.0]), np.array([0.0, 4.0]), np.array([1.0, 1.0])


@pytest.fixture
def parts(tmp_path, make_parts_model):
    """`parts(**options)`: an encoder on a fresh tiny model; options of `make_parts_model`."""

    def build(words=WORDS, *, token_budget=None, **options) -> TrialEncoder:
        folder = make_parts_model(tmp_path / "parts", words, **options)
        return TrialEncoder(read_model(folder), token_budget=token_budget)

    return build


def test_all_parts(parts) -> None:
    items = [{"title": "a", "intervention": "b", "condition": "c", "outcome": "a", "context": "b"}]
    expected = 1 * A + 2 * B + 3 * C + 4 * A + 5 * B
    assert parts().encode_documents(items) == pytest.approx(np.array([expected]))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_any_subset_of_parts(parts, count: int) -> None:
    texts = dict(zip(NAMES, "abcab", strict=True))
    vectors = dict(zip(NAMES, (1 * A, 2 * B, 3 * C, 4 * A, 5 * B), strict=True))
    subsets = list(combinations(NAMES, count))
    found = parts().encode([{name: texts[name] for name in names} for names in subsets], role="document")
    assert found.rejected == {}
    assert found.vectors == pytest.approx(
        np.array([sum(vectors[name] for name in names) for names in subsets])
    )


def test_only_a_context(parts) -> None:
    assert parts().encode_documents([{"context": "a"}]) == pytest.approx(np.array([5 * A]))


def test_no_part_is_rejected_and_the_rest_goes_on(parts) -> None:
    found = parts().encode([{}, {"title": "a"}, {"title": " ", "context": None}, ""], role="document")
    assert list(found.rejected) == [0, 2, 3]
    assert "none of its parts has a text (title, intervention" in found.rejected[0]
    assert found.vectors == pytest.approx(np.array([[0, 0], A, [0, 0], [0, 0]]))


def test_an_unknown_part_is_rejected_by_name(parts) -> None:
    encoder = parts()
    reason = encoder.encode([{"titel": "a"}], role="document").rejected[0]
    assert reason == "it has no part 'titel': its parts are title, intervention, condition, outcome, context"
    assert "'sponsor'" in encoder.encode(['\x1e{"sponsor": "a"}'], role="document").rejected[0]
    with pytest.raises(InvalidText, match="no part 'titel'"):
        encoder.encode_queries([{"titel": "a"}])


def test_positions_start_again_in_each_part(parts) -> None:
    """Positions 0, 1, 2 of [CLS] a [SEP] add 1 on average, in whichever part."""
    encoder = parts(positions=True)
    found = encoder.encode_parts([{"title": "a", "condition": "a", "context": "a"}])
    assert found.local[0, [0, 2, 4]] == pytest.approx(np.array([A + 1] * 3))


def test_e1_inputs_of_32_bits(parts) -> None:
    from onnx import TensorProto

    assert parts(integers=TensorProto.INT32).encode_documents(["a"]) == pytest.approx(np.array([A]))


def test_e1_a_graph_of_texts_is_refused(tmp_path, make_model, make_parts_model) -> None:
    texts = make_model(tmp_path / "texts", WORDS)
    described = make_parts_model(tmp_path / "parts", WORDS)
    (described / "model.onnx").write_bytes((texts / "model.onnx").read_bytes())
    with pytest.raises(ModelInvalid, match=r"attention_mask.*input_ids, position_ids, part_ids"):
        TrialEncoder(read_model(described))
    (described / "model.onnx").write_bytes(
        (make_model(tmp_path / "ids", WORDS, inputs=("input_ids",)) / "model.onnx").read_bytes()
    )
    with pytest.raises(ModelInvalid, match="names parts: such a graph takes"):
        TrialEncoder(read_model(described))


def test_a_graph_of_parts_is_refused_where_texts_are_described(tmp_path, make_parts_model) -> None:
    folder = make_parts_model(tmp_path / "parts", WORDS, parts=[], counted=5)
    with pytest.raises(ModelInvalid, match="part_ids"):
        OnnxEncoder(read_model(folder))


@pytest.mark.parametrize(
    ("options", "message"), [({"counted": 4}, "of 4 parts"), ({"dimension": 3}, "dimension 3")]
)
def test_a_graph_that_contradicts_its_description_is_refused(parts, options, message) -> None:
    with pytest.raises(ModelInvalid, match=message):
        parts(**options)


def test_e2_unit_norm_where_the_space_says_so(parts) -> None:
    encoder = parts(normalized=True, similarity="cosine")
    found = encoder.encode_parts([{"title": "c", "context": "b"}])
    assert found.global_[0] == pytest.approx(np.array([1.0, 21.0]) / math.sqrt(442))
    assert found.local[0, 0] == pytest.approx(np.array([1, 1]) / math.sqrt(2))
    assert found.local[0, 1].tolist() == [0.0, 0.0]


def test_e3_the_role_cannot_be_left_out(parts) -> None:
    encoder = parts()
    with pytest.raises(TypeError, match="role"):
        encoder.encode([{"title": "a"}])
    with pytest.raises(ValueError, match="expected 'query' or 'document'"):
        encoder.encode([{"title": "a"}], role="passage")


def test_e4_a_document_alone_and_among_others(parts) -> None:
    items = [{"title": "a b"}, {"context": "c " * 14, "title": "b"}, {"condition": "c"}, {"context": "a"}]
    for budget in (1, 30, 4096):
        encoder = parts(positions=True, token_budget=budget)
        together = encoder.encode_documents(items)
        alone = np.concatenate([encoder.encode_documents([item]) for item in items])
        assert together == pytest.approx(alone, abs=1e-5)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    items=st.lists(
        st.dictionaries(
            st.sampled_from(NAMES), st.lists(st.sampled_from("abc"), min_size=1, max_size=20), min_size=1
        ),
        max_size=12,
    ),
    budget=st.integers(1, 200),
)
def test_e4_batches_of_any_shape(parts, items, budget) -> None:
    """Each part by itself: the mean over its first tokens, whatever stands beside it."""
    limits = dict.fromkeys(NAMES, 6) | {"context": 14}
    expected = np.zeros((len(items), 2))
    for row, item in enumerate(items):
        for number, name in enumerate(NAMES, start=1):
            kept = [WORDS[word] for word in item.get(name, [])[: limits[name]]]
            expected[row] += number * np.sum(kept, axis=0) / (len(kept) + 2) if kept else 0
    found = parts(token_budget=budget).encode_documents(
        [{name: " ".join(words) for name, words in item.items()} for item in items]
    )
    assert found == pytest.approx(expected, rel=1e-5)


def test_e4_of_int8_weights_each_document_is_run_alone(parts, monkeypatch) -> None:
    encoder = parts(precision="int8")
    shapes = []
    run = encoder._session.run
    monkeypatch.setattr(
        encoder._session, "run", lambda ids, *rest: shapes.append(ids.shape) or run(ids, *rest)
    )
    encoder.encode_documents([{"title": "a"}, {"title": "a", "context": "b"}, {"title": "b"}])
    assert sorted(shapes) == [(1, 3), (1, 3), (1, 6)]


def test_e5_a_part_beyond_its_limit_is_cut_and_flagged(parts) -> None:
    """A title takes 8 tokens, 6 words of them; a context 16."""
    items = [
        {"title": "a " * 6},
        {"title": "a " * 7},
        {"context": "a " * 14},
        {"title": "a", "context": "a " * 15},
    ]
    encoder = parts()
    assert encoder.encode(items, role="document").truncated.tolist() == [False, True, False, True]
    found = encoder.encode_parts(items)
    assert np.argwhere(found.truncated).tolist() == [[1, 0], [3, 4]]
    assert found.local[1, 0] == pytest.approx(6 * np.array([6.0, 0.0]) / 8)


def test_e5_an_eligibility_of_10_000_words(parts) -> None:
    found = parts().encode([{"title": "b", "context": "a " * 10_000}, {"title": "b"}], role="document")
    assert found.truncated.tolist() == [True, False]
    assert found.vectors == pytest.approx(np.array([B + 5 * 14 * np.array([6.0, 0.0]) / 16, B]))


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"title": "a", "context": None}, A),
        ({"title": ["a", None, ""]}, A),
        ({"title": ("a", "a")}, A),
        ({"title": "&#97;\x00\ud800"}, A),
        ({"title": "\ud800", "condition": "a"}, 3 * A),
        ("a", A),
        ({"title": []}, "none of its parts"),
        ({"title": "\ud800\x00"}, "none of its parts"),
        ({"title": {"text": "a"}}, "part 'title': a dict is not a text"),
        ({"title": True}, "part 'title': a bool"),
        ({"title": "a", "condition": math.nan}, "part 'condition': nan is not a text"),
        (None, "no text (None)"),
        (["a"], "a list is not a text"),
        (math.inf, "inf is not a text"),
        ("\x1e{", "begins as one of parts, and isn't"),
        ('\x1e{"title": 3}', "begins as one of parts, and isn't"),
    ],
)
def test_e6_values_are_coerced_or_rejected_with_the_reason(parts, item, expected) -> None:
    found = parts().encode([{"title": "b"}, item, {"title": "c"}], role="document")
    assert found.vectors[[0, 2]] == pytest.approx(np.array([B, C]))
    if isinstance(expected, str):
        assert expected in found.rejected[1]
    else:
        assert found.rejected == {}
        assert found.vectors[1] == pytest.approx(expected)


def test_e6_numbers_are_their_digits(parts) -> None:
    encoder = parts({"3.5": (3.0, 6.0)})
    assert encoder.encode_documents([{"title": 3.5}, 3.5]) == pytest.approx(np.array([[1, 2], [1, 2]]))


def test_a_list_in_a_part_is_joined_as_build_text_joins(parts) -> None:
    words = {"x;": (3.0, 0.0), "y": (0.0, 3.0)}
    assert parts(words).encode_documents([{"condition": ["x", "y"]}]) == pytest.approx(
        np.array([[3 * 0.75, 3 * 0.75]])
    )


@pytest.mark.parametrize("given", ["a", {"title": "a"}])
def test_e6_one_item_where_a_list_is_expected(parts, given) -> None:
    with pytest.raises(InvalidText, match="put it in a list"):
        parts().encode(given, role="document")


def test_e6_a_vector_that_cant_be_used_is_rejected(parts) -> None:
    found = parts().encode_parts([{"title": "nan"}, {"title": "zero"}, {"title": "a"}])
    assert found.rejected == {
        0: "the model's vector can't be used: it has NaN",
        1: "the model's vector can't be used: it is all zeros",
    }
    assert found.global_.tolist() == [[0, 0], [0, 0], A.tolist()]
    assert not found.local[:2].any()


def test_e8_a_failing_graph_is_named(parts) -> None:
    limits = [{"name": "title", "max_tokens": 2000}]
    encoder = parts(parts=limits, max_tokens=2000, positions=True)
    with pytest.raises(EncodingFailed, match="1 texts of 1502 tokens"):
        encoder.encode_documents([{"title": "a " * 1500}])


def test_a_plain_text_is_the_title(parts) -> None:
    encoder = parts()
    assert encoder.encode_queries(["b"]) == pytest.approx(np.array([B]))
    other = parts(parts=[{"name": "condition", "max_tokens": 8}, {"name": "context", "max_tokens": 8}])
    assert other.encode_queries(["b"]).tolist() == [B.tolist()]


def test_a_query_may_be_a_mapping(parts) -> None:
    found = parts().encode_queries([{"condition": "a", "intervention": "b"}])
    assert found == pytest.approx(np.array([3 * A + 2 * B]))


def test_parts_as_one_text(parts) -> None:
    text = join_parts({"condition": "a", "intervention": "b"})
    assert parts().encode_documents([text]) == pytest.approx(np.array([3 * A + 2 * B]))


def test_a_local_text_gets_its_parts_own_vector(parts) -> None:
    encoder = parts()
    texts = [join_parts({"condition": "a"}, local=True), join_parts({"condition": "a"})]
    assert encoder.encode(texts, role="document").vectors == pytest.approx(np.array([A, 3 * A]))


def test_a_parts_vector_is_the_same_alone_and_among_other_parts(parts) -> None:
    encoder = parts(positions=True)
    whole = encoder.encode_parts([{"title": "b c", "condition": "a b"}])
    alone = encoder.encode_documents([join_parts({"condition": "a b"}, local=True)])
    assert whole.local[0, 2] == pytest.approx(alone[0], abs=1e-5)


def test_which_parts_there_are(parts) -> None:
    found = parts().encode_parts([{"title": "a", "context": "b"}, {}])
    assert found.present.tolist() == [[True, False, False, False, True], [False] * 5]
    assert list(found.rejected) == [1]
    assert not found.local[0, 1:4].any()


def test_load_encoder_goes_by_the_description(tmp_path, make_parts_model) -> None:
    folder = make_parts_model(tmp_path / "parts", WORDS)
    encoder = load_encoder(str(folder))
    assert encoder.space.parts == NAMES
    assert encoder.provider == "cpu"
    assert encoder.encode_queries(["b"]) == pytest.approx(np.array([B]))


def test_the_check_of_an_encoder(tmp_path, make_parts_model) -> None:
    words = {"Aspirin": (3.0, 1.0), "[UNK]": (1.0, 2.0)}
    limits = [{"name": "title", "max_tokens": 16}, {"name": "context", "max_tokens": 16, "context": True}]
    encoder = load_encoder(str(make_parts_model(tmp_path / "parts", words, parts=limits, normalized=True)))
    assert check_encoder(encoder).faults == ()


def test_a_space_with_parts_refuses_an_encoder_without(parts, tiny) -> None:
    template = TextTemplate(("brief_title",), parts=("title",))
    assert Space(parts().space, template).template == template
    with pytest.raises(SpaceMismatch, match="'tiny' takes plain texts: use an encoder of these parts"):
        Space(tiny().space, template)
    with pytest.raises(SpaceMismatch, match="sponsor, but the encoder 'tiny-parts' takes title, "):
        Space(parts().space, TextTemplate(("sponsor",), parts=("sponsor",)))


def test_e8_no_batch_holds_more_tokens_than_its_budget(parts, monkeypatch) -> None:
    encoder = parts(token_budget=40)
    shapes = []
    run = encoder._session.run
    monkeypatch.setattr(
        encoder._session, "run", lambda ids, *rest: shapes.append(ids.shape) or run(ids, *rest)
    )
    encoder.encode_documents(
        [{"title": "a " * (row % 6 + 1), "context": "b " * (row % 14 + 1)} for row in range(60)]
    )
    assert sum(rows for rows, _ in shapes) == 60
    assert max(rows * length for rows, length in shapes) <= 40


def test_e8_memory_is_flat_over_many_batches(parts) -> None:
    encoder = parts(token_budget=40)
    items = [{"title": "a " * (row % 6 + 1), "context": "b " * (row % 14 + 1)} for row in range(16)]

    def held(calls: int) -> int:
        for _ in range(calls):
            encoder.encode(items, role="document")
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    held(10)
    tracemalloc.start()
    before = held(100)  # what threads and queues keep of their first turns is there by then
    after = held(200)
    tracemalloc.stop()
    assert after - before < 20_000
