"""Examples as tensors: what each process is given of a minibatch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train


def _examples() -> list[Any]:
    from trifuse.encoder.training import Example, Passage

    def passage(organ: str) -> Passage:
        return Passage(organ, f"{organ} disease [SEP] the {organ}")

    pairs = [("heart", "lung"), ("lung", "skin"), ("bone", "heart"), ("skin", "blood")]
    return [Example(asked, passage(asked), passage(other)) for asked, other in pairs]


def _batcher(tokenizer: Path, **options: Any) -> Any:
    from trifuse.encoder.training import Recipe
    from trifuse.encoder.training.batches import Batcher

    return Batcher(tokenizer, Recipe(query_tokens=4, document_tokens=6), separator="[SEP]", **options)


def test_tokens_are_cut_and_segments_told_apart(tokenizer_file: Path) -> None:
    batch = _batcher(tokenizer_file).batch(_examples()[:2])
    # [CLS] heart [SEP]
    assert batch.queries["input_ids"].tolist() == [[2, 12, 3], [2, 13, 3]]
    # [CLS] heart disease [SEP] the | heart is cut | [SEP]
    assert batch.documents["input_ids"].tolist()[0] == [2, 12, 5, 3, 8, 3]
    assert batch.documents["token_type_ids"].tolist()[0] == [0, 0, 0, 0, 1, 1]
    assert batch.documents["attention_mask"].tolist() == [[1] * 6] * 4


def test_positives_come_first_and_are_where_they_are_said_to_be(tokenizer_file: Path) -> None:
    batch = _batcher(tokenizer_file).batch(_examples())
    assert batch.positives.tolist() == [0, 1, 2, 3]
    # candidates: heart lung bone skin | lung skin heart blood
    rows = batch.excluded.nonzero().tolist()
    assert rows == [[0, 6], [1, 4], [3, 5]]  # each query's own positive, where another's negative is the same


def test_two_processes_hold_their_queries_against_all_candidates(tokenizer_file: Path) -> None:
    """Every second example is a process's own; candidates stand in the order of the processes."""
    first, second = (_batcher(tokenizer_file, rank=rank, processes=2).batch(_examples()) for rank in (0, 1))
    # candidates: heart bone | lung heart || lung skin | skin blood
    assert first.queries["input_ids"][:, 1].tolist() == [12, 18]  # heart, bone
    assert first.positives.tolist() == [0, 1]
    assert first.excluded.nonzero().tolist() == [[0, 3]]
    assert second.queries["input_ids"][:, 1].tolist() == [13, 17]  # lung, skin
    assert second.positives.tolist() == [4, 5]
    assert second.excluded.nonzero().tolist() == [[0, 2], [1, 6]]
    assert second.documents["input_ids"][:, 1].tolist() == [13, 17, 17, 19]


def test_a_model_without_segments_is_given_none(tokenizer_file: Path) -> None:
    assert "token_type_ids" not in _batcher(tokenizer_file, segments=False).batch(_examples()).documents
