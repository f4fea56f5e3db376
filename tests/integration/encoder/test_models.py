"""The named models, against what sentence-transformers on torch gave (tests/data/canonical_vectors.json)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder import describe_encoder, load_encoder
from trifuse.encoder.encode import OnnxEncoder

CANONICAL: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "canonical_vectors.json").read_text(encoding="utf-8")
)
TEXTS = list(CANONICAL["texts"].values())
FP32 = ["bge-small-en-v1.5", "e5-small-v2"]
INT8 = ["bge-small-en-v1.5-int8", "e5-small-v2-int8"]
LONG = "The tide table of the harbour lists every hour of the year. " * 60


@cache
def encoder(name: str) -> OnnxEncoder:
    """A model, started once for all tests."""
    return load_encoder(name)


def _cosines(name: str, role: Any) -> Any:
    expected = np.array(CANONICAL["models"][name.removesuffix("-int8")][role])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    return (encoder(name).encode(TEXTS, role=role).vectors * expected).sum(axis=1)


@pytest.mark.parametrize("role", ["document", "query"])
@pytest.mark.parametrize("name", FP32)
def test_e2_e3_fp32_is_the_reference_implementation(name: str, role: str) -> None:
    """bge pools the first token, e5 the mean; both prefix by role."""
    assert _cosines(name, role).min() >= 0.9999


@pytest.mark.parametrize("role", ["document", "query"])
@pytest.mark.parametrize("name", INT8)
def test_e2_int8_is_near_the_reference_and_a_space_of_its_own(name: str, role: str) -> None:
    """0.994 to 0.998 where the processor has VNNI; without it sums may saturate."""
    assert _cosines(name, role).min() >= 0.97
    assert describe_encoder(name).id != describe_encoder(name.removesuffix("-int8")).id


@pytest.mark.parametrize("name", FP32 + INT8)
def test_a_loaded_models_space_is_the_described_one(name: str) -> None:
    assert encoder(name).space == describe_encoder(name)
    assert encoder(name).provider == "cpu"


@pytest.mark.parametrize(
    ("name", "tolerance"), [(FP32[0], 1e-5), (FP32[1], 1e-5), (INT8[0], 0), (INT8[1], 0)]
)
def test_e4_alone_and_in_a_batch_with_a_long_text(name: str, tolerance: float) -> None:
    """int8 graphs scale activations over the batch: each text goes alone, so that nothing else moves it."""
    texts = ["fever", LONG, "a rash on the left arm", "knee pain after running", LONG]
    together = encoder(name).encode_documents(texts)
    alone = np.concatenate([encoder(name).encode_documents([text]) for text in texts])
    assert np.abs(together - alone).max() <= tolerance
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


@pytest.mark.parametrize(
    ("words", "cut"), [(1, False), (510, False), (511, True), (100_000, True)]
)  # 512 tokens, of which [CLS] and [SEP] are two; "knee" is one token.
def test_e5_from_one_token_to_100_000(words: int, cut: bool) -> None:
    result = encoder(INT8[0]).encode(["knee " * words, "knee"], role="document")
    assert result.truncated.tolist() == [cut, False]
    assert not result.rejected
    assert np.isfinite(result.vectors).all()


def test_synonyms_are_nearer_than_strangers() -> None:
    """What the default encoder is for."""
    queries = encoder(INT8[0]).encode_queries(["heart attack", "high blood pressure"])
    documents = encoder(INT8[0]).encode_documents(
        ["myocardial infarction", "arterial hypertension", "eczema"]
    )
    assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1]
