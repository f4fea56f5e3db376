"""Sentences' vectors are made once, and are of one space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trifuse.encoder import load_encoder
from trifuse.encoder.training.aspects.vectors import sentence_vectors

pytestmark = pytest.mark.train


class _Counting:
    """An encoder that notes what it is given."""

    def __init__(self, folder: Path) -> None:
        self._encoder = load_encoder(str(folder))
        self.space = self._encoder.space
        self.given: list[str] = []

    def encode_documents(self, texts: list[str]) -> np.ndarray:
        self.given += texts
        return self._encoder.encode_documents(texts)


@pytest.fixture
def folder(make_model: Callable[..., Path], tmp_path: Path) -> Path:
    return make_model(tmp_path / "model", {"heart": (4.0, 0.0), "lung": (0.0, 8.0)})


def test_each_text_is_encoded_once_as_a_document(folder: Path, tmp_path: Path) -> None:
    encoder = _Counting(folder)
    told: list[tuple[int, int]] = []
    texts = ["heart", "lung", "heart"]
    found = sentence_vectors(encoder, texts, tmp_path / "kept", lambda *so_far: told.append(so_far))  # type: ignore[arg-type]
    assert encoder.given == ["lung", "heart"]
    assert told == [(2, 2)]
    # [CLS] heart [SEP], of which two are zeros.
    assert found["heart"] == pytest.approx([4 / 3, 0])
    again = sentence_vectors(encoder, texts, tmp_path / "kept")  # type: ignore[arg-type]
    assert encoder.given == ["lung", "heart"]
    assert again["lung"] == pytest.approx([0, 8 / 3])


@pytest.mark.parametrize("damage", [b"", b"no array"])
def test_a_damaged_file_is_made_again(folder: Path, tmp_path: Path, damage: bytes) -> None:
    encoder = _Counting(folder)
    sentence_vectors(encoder, ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    (file,) = (tmp_path / "kept").rglob("*.npy")
    file.write_bytes(damage)
    found = sentence_vectors(encoder, ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    assert found["heart"] == pytest.approx([4 / 3, 0])
    assert encoder.given == ["heart", "heart"]


def test_vectors_that_are_no_numbers_are_made_again(folder: Path, tmp_path: Path) -> None:
    encoder = _Counting(folder)
    sentence_vectors(encoder, ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    (file,) = (tmp_path / "kept").rglob("*.npy")
    np.save(file, np.full((1, 2), np.nan, dtype=np.float32))
    found = sentence_vectors(encoder, ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    assert found["heart"] == pytest.approx([4 / 3, 0])


def test_another_space_has_vectors_of_its_own(
    folder: Path, make_model: Callable[..., Path], tmp_path: Path
) -> None:
    other = make_model(tmp_path / "other", {"heart": (1.0, 1.0)}, name="other")
    sentence_vectors(_Counting(folder), ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    found = sentence_vectors(_Counting(other), ["heart"], tmp_path / "kept")  # type: ignore[arg-type]
    assert found["heart"] == pytest.approx([1 / 3, 1 / 3])
