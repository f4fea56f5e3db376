"""Labelled tokens from JSON lines."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.labelled import LabelledTokens
from trifuse.encoder.training.aspects.rows import read_rows

GOOD = {"pmid": "7", "tokens": ["Men", "took", "aspirin"], "labels": ["P", "N", "I"]}


def _file(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def test_a_row_is_read_whole(tmp_path: Path) -> None:
    row = GOOD | {"labels": ["PO", "N", "C"], "sent_ends": [1, 3], "split": "train", "source": "a"}
    assert list(read_rows(_file(tmp_path, row))) == [
        LabelledTokens(
            "7",
            ("Men", "took", "aspirin"),
            (frozenset({"population", "outcome"}), frozenset(), frozenset({"comparator"})),
            (1, 3),
            "train",
            "a",
        )
    ]


def test_what_may_be_left_out_has_defaults(tmp_path: Path) -> None:
    (found,) = read_rows(_file(tmp_path, GOOD | {"pmid": 7}))
    assert (found.id, found.ends, found.split, found.source) == ("7", (3,), "", "")


def test_a_packed_file_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(f"\n{json.dumps(GOOD)}\n\n".encode()))
    assert [found.id for found in read_rows(path)] == ["7"]


def test_a_document_without_tokens_is_one(tmp_path: Path) -> None:
    (found,) = read_rows(_file(tmp_path, {"pmid": "1", "tokens": [], "labels": [], "sent_ends": []}))
    assert found.tokens == ()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{no json\n", "line 2: JSON is malformed"),
        ("[1]\n", r"line 2: Expected `object`, got `array`.*an object such as"),
        ({"tokens": [], "labels": []}, "line 2: .*missing required field `pmid`"),
        (GOOD | {"pmid": "8", "labels": ["P"]}, "line 2: 1 labels for 3 tokens"),
        (GOOD | {"pmid": "8", "labels": ["P", "X", "N"]}, "line 2: the label is 'X', expected N, or letters"),
        (GOOD | {"pmid": "8", "labels": ["P", "", "N"]}, "line 2: the label is ''"),
        (GOOD | {"pmid": "8", "labels": ["P", 1, "N"]}, r"line 2: Expected `str`, got `int`.*labels"),
        (GOOD | {"pmid": "8", "sent_ends": [2]}, "line 2: sent_ends are .*the last is 3"),
        (GOOD | {"pmid": "8", "sent_ends": [2, 2, 3]}, "line 2: sent_ends"),
        (GOOD | {"pmid": "8", "sent_ends": [0, 3]}, "line 2: sent_ends"),
        (GOOD | {"pmid": "8", "sent_ends": []}, "line 2: sent_ends"),
        (GOOD, "line 2: the document '7' is in line 1 too"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_line(tmp_path: Path, row: object, said: str) -> None:
    path = _file(tmp_path, GOOD, row)
    with pytest.raises(LabelsInvalid, match=f"{path}, {said}"):
        list(read_rows(path))


def test_a_file_without_documents_and_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LabelsInvalid, match="there are no documents"):
        list(read_rows(_file(tmp_path)))
    with pytest.raises(LabelsInvalid, match="can't be read"):
        list(read_rows(tmp_path / "nowhere"))


def test_reading_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import trifuse.encoder.training.aspects.rows, trifuse.encoder.training.aspects.sentences"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
