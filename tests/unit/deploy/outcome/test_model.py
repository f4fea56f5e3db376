"""A model as a file: what was written is read, and serves one space alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome import OutcomeModel, load_model, save_model
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate

SPACE = Space(EncoderSpace("tiny", "r", "fp32", "cls", 2, True, "cosine"), TextTemplate(("title",)))
MODEL = OutcomeModel(
    space=SPACE.id,
    encoder="tiny",
    positive=("COMPLETED",),
    negative=("TERMINATED",),
    weights=(0.1, 1 / 3),
    bias=-2.5,
    penalty=10.0,
    trials={"train": {"positive": 3, "negative": 1}},
    measures={"roc_auc": {"mean": 0.7, "ci95": [0.6, 0.8]}},
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    assert read == MODEL
    vectors = np.array([[3.0, 4.0]], dtype=np.float32)
    assert read.layer.predict(vectors) == pytest.approx(MODEL.layer.predict(vectors), abs=0)


@pytest.mark.parametrize("content", ["", "[]", '{"space": "x"}', "\x00"])
def test_a_file_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(OutcomeInvalid, match="trifuse outcome train"):
        load_model(tmp_path / "model.json")


def test_a_later_format(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text().replace('"format": 1', '"format": 2')
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(OutcomeInvalid, match="format 2"):
        load_model(tmp_path / "model.json")


def test_another_space_is_refused_also_the_same_encoders_of_other_fields() -> None:
    MODEL.require_space(SPACE, "trials")
    other = Space(SPACE.encoder, TextTemplate(("title", "body")))
    with pytest.raises(SpaceMismatch, match=r"'trials' serves vectors of .*trifuse outcome train"):
        MODEL.require_space(other, "trials")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"bias": -2.5', '"bias": 1e300'),
        ("0.1,", "-1e200,"),
        ("0.1,", "NaN,"),
        ('"COMPLETED"', ""),
    ],
)
def test_what_no_training_writes(tmp_path: Path, before: str, after: str) -> None:
    save_model(MODEL, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert before in text
    (tmp_path / "model.json").write_text(text.replace(before, after))
    with pytest.raises(OutcomeInvalid, match="trifuse outcome train"):
        load_model(tmp_path / "model.json")


def test_a_weight_too_few() -> None:
    with pytest.raises(OutcomeInvalid, match=r"has 1 weights, but vectors of .* have 2 numbers"):
        msgspec.structs.replace(MODEL, weights=(0.1,)).require_space(SPACE, "trials")
