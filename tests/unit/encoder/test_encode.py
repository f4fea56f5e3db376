"""Encoding with tiny models: order, pooling, prefixes, cuts, rejections; numbers worked out by hand."""

from __future__ import annotations

import contextlib
import math
import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trifuse.encoder.errors import InvalidText, InvalidVector, ModelInvalid
from trifuse.encoder.texts import as_text


@pytest.mark.parametrize(
    ("inputs", "added"),
    [
        (("input_ids", "attention_mask"), 0.0),
        (("input_ids",), 0.0),
        (("input_ids", "attention_mask", "token_type_ids"), 0.0),
        # Positions 0, 1, 2 of [CLS] a [SEP] are added: 1 on average.
        (("input_ids", "attention_mask", "position_ids"), 1.0),
        (("input_ids", "attention_mask", "token_type_ids", "position_ids"), 1.0),
    ],
)
def test_e1_exactly_the_sessions_inputs_are_fed(tiny, inputs, added) -> None:
    encoder = tiny(inputs=inputs)
    assert encoder.encode_documents(["a"]) == pytest.approx(np.array([[4 / 3 + added, added]]))


def test_e1_inputs_of_32_bits(tiny) -> None:
    from onnx import TensorProto

    encoder = tiny(inputs=("input_ids", "attention_mask"), integers=TensorProto.INT32)
    assert encoder.encode_documents(["b"]) == pytest.approx(np.array([[0, 8 / 3]]))


def test_e1_an_unknown_input_is_refused_by_name(tiny) -> None:
    with pytest.raises(ModelInvalid, match="pixel_values"):
        tiny(inputs=("input_ids", "pixel_values"))


def test_e2_mean_is_over_the_texts_own_tokens(tiny) -> None:
    """[CLS] a c [SEP]: (4 + 12) / 4 and 4 / 4, whatever stands beside it in the batch."""
    vectors = tiny().encode_documents(["a c", "a b c a b c a b", "b"])
    assert vectors[0] == pytest.approx([4, 1])
    assert vectors[2] == pytest.approx([0, 8 / 3])


def test_e2_cls_is_the_first_token(tiny) -> None:
    encoder = tiny({"[CLS]": (3.0, 4.0), "a": (9.0, 9.0)}, pooling="cls")
    assert encoder.encode_documents(["a a a"]).tolist() == [[3.0, 4.0]]


def test_unit_norm_only_where_the_space_says_so(tiny) -> None:
    words = {"[CLS]": (3.0, 4.0), "a": (9.0, 9.0)}
    assert tiny(words, pooling="cls", normalized=True).encode_queries(["a"]) == pytest.approx(
        np.array([[0.6, 0.8]])
    )
    assert tiny(words, pooling="cls", normalized=False).encode_queries(["a"]).tolist() == [[3.0, 4.0]]


def test_e3_prefixes_by_role(tiny) -> None:
    encoder = tiny(query_prefix="a ", document_prefix="b ")
    assert encoder.encode_queries(["c"]) == pytest.approx(np.array([[16 / 4, 4 / 4]]))
    assert encoder.encode_documents(["c"]) == pytest.approx(np.array([[12 / 4, 12 / 4]]))
    assert encoder.encode(["c"], role="query").vectors == pytest.approx(np.array([[4.0, 1.0]]))


def test_e3_the_role_cannot_be_left_out(tiny) -> None:
    encoder = tiny()
    with pytest.raises(TypeError, match="role"):
        encoder.encode(["c"])
    with pytest.raises(ValueError, match="expected 'query' or 'document'"):
        encoder.encode(["c"], role="passage")


def test_e4_alone_and_beside_a_long_text(tiny) -> None:
    words = {name: np.random.default_rng(3).normal(size=8).tolist() for name in "abcdefgh"}
    encoder = tiny(words, attention=True, max_tokens=500, token_budget=2000)
    texts = ["a b", "c d e", "a b c d e f g h " * 60, "h"]
    together = encoder.encode_documents(texts)
    alone = np.concatenate([encoder.encode_documents([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


@pytest.mark.parametrize(("words", "cut"), [(1, False), (14, False), (15, True), (100_000, True)])
def test_e5_truncation_is_flagged(tiny, words, cut) -> None:
    """max_tokens is 16, of which [CLS] and [SEP] take two: 14 words fit."""
    result = tiny().encode(["b", " ".join(["a"] * words)], role="document")
    kept = min(words, 14)
    assert result.truncated.tolist() == [False, cut]
    assert result.vectors[1] == pytest.approx([4 * kept / (kept + 2), 0])
    assert not result.rejected


def test_e5_a_text_of_many_characters_and_few_tokens_is_cut_before_it_is_tokenised(tiny) -> None:
    """16 tokens at 64 characters each: what stands behind 1,024 characters is not read."""
    result = tiny().encode(["a" + " " * 3 + "x" * 2000 + " b"], role="document")
    assert result.truncated.tolist() == [True]
    # [CLS] a [UNK] [SEP], without b.
    assert result.vectors[0] == pytest.approx([1, 0])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        (None, "None"),
        (math.nan, "nan is not a text"),
        (math.inf, "inf is not a text"),
        pytest.param(10**5000, "a number of thousands of digits", id="10**5000"),
        (["a"], "a list is not a text"),
        (True, "a bool is not a text"),
        (b"a", "a bytes is not a text"),
        ("\ud800", "no readable character"),
        ("\x00", "no readable character"),
    ],
)
def test_e6_rejected_with_the_reason_and_the_rest_goes_on(tiny, value, reason) -> None:
    result = tiny().encode(["a", value, "b"], role="document")
    assert list(result.rejected) == [1]
    assert reason in result.rejected[1]
    assert result.vectors[[0, 2]] == pytest.approx(np.array([[4 / 3, 0], [0, 8 / 3]]))
    assert result.vectors[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("value", "same_as"),
    [
        (3.14, "3.14"),
        (7, "7"),
        (np.int64(7), "7"),
        ("a\ud800 \x00b", "a b"),
        ("a\r\n\tb ", "a b"),
        ("&lt; &amp;", "< &"),
        ("שלום", "שלום"),
    ],
)
def test_e6_coerced(tiny, value, same_as) -> None:
    words = {"a": (1.0, 0.0), "b": (2.0, 0.0), "3.14": (3.0, 0.0), "7": (5.0, 0.0), "<": (0.0, 7.0)}
    encoder = tiny({**words, "&": (0.0, 11.0), "שלום": (13.0, 0.0)})
    expected = sum(np.array(({**words, "&": (0.0, 11.0), "שלום": (13.0, 0.0)})[w]) for w in same_as.split())
    result = encoder.encode([value], role="document")
    assert not result.rejected
    assert result.vectors[0] == pytest.approx(expected / (len(same_as.split()) + 2))


def test_invalid_texts_are_named_by_position(tiny) -> None:
    with pytest.raises(
        InvalidText, match=r"2 of 4 texts .*1: the text is empty; 3: there is no text \(None\)"
    ):
        tiny().encode_documents(["a", "", "b", None])


def test_one_string_is_not_a_sequence_of_texts(tiny) -> None:
    with pytest.raises(InvalidText, match="put it in a list"):
        tiny().encode_queries("abc")


def test_no_texts_no_vectors(tiny) -> None:
    assert tiny().encode_documents([]).shape == (0, 2)


@pytest.mark.parametrize(("text", "reason"), [("a nan", "NaN"), ("zero", "all zeros")])
def test_b1_a_vector_that_cannot_be_used_is_refused(tiny, text, reason) -> None:
    encoder = tiny()
    result = encoder.encode(["a", text], role="document")
    assert list(result.rejected) == [1]
    assert reason in result.rejected[1]
    assert result.vectors.tolist() == [[pytest.approx(4 / 3), 0], [0, 0]]
    with pytest.raises(InvalidVector, match=f"1: it .*{reason}"):
        encoder.encode_queries(["a", text])


def test_b2_a_graph_that_contradicts_its_dimension_is_refused_at_start(tiny) -> None:
    with pytest.raises(ModelInvalid, match=r"vectors of 2 numbers.*dimension 3"):
        tiny(dimension=3)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=14), max_size=30),
    budget=st.integers(1, 64),
)
def test_order_is_kept_whatever_the_batches(tiny, texts, budget) -> None:
    rows = {"a": (4.0, 0.0), "b": (0.0, 8.0), "c": (12.0, 4.0)}
    expected = [np.sum([rows[word] for word in text], axis=0) / (len(text) + 2) for text in texts]
    found = tiny(token_budget=budget).encode_documents([" ".join(text) for text in texts])
    assert found == pytest.approx(np.array(expected).reshape(-1, 2), abs=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_was_forked_after_use_encodes(tiny) -> None:
    """A web server that loads the encoder, tries it, and then forks its workers."""
    encoder = tiny()
    before = encoder.encode_documents(["a", "b"])
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            signal.alarm(20)  # the parent's threads aren't here: whoever waits for them waits for good
            os._exit(0 if np.array_equal(encoder.encode_documents(["a", "b"]), before) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_e6_a_whole_number_beyond_all_floats_is_a_text() -> None:
    assert as_text(10**400) == "1" + "0" * 400
