"""Trained towers as a model that serves: the vectors of the graphs are the vectors of the towers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.errors import ExportFailed

pytestmark = pytest.mark.train

PAIR = "heart disease [SEP] treatment of the heart"


def _export(towers: Any, tokenizer: Path, folder: Path, **options: Any) -> float:
    from trifuse.encoder.training.checkpoints import Checkpoint
    from trifuse.encoder.training.export import export_towers

    start = Checkpoint(towers.document, tokenizer, "[SEP]", 64, licence="MIT")
    description = start.description("tiny-lader", query_model="query.onnx")
    return export_towers(towers, tokenizer, description, folder, **options)


def test_both_towers_serve_what_was_trained(
    bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path
) -> None:
    import torch

    from trifuse.encoder import load_encoder
    from trifuse.encoder.check import check_encoder
    from trifuse.encoder.training.towers import Towers, vectors_of

    towers = Towers(bert())
    towers.query = bert(seed=7)
    folder = tmp_path / "model"
    assert _export(towers, tokenizer_file, folder, texts=[PAIR]) >= 0.9999
    assert {path.name for path in folder.iterdir()} == {
        "model.onnx",
        "query.onnx",
        "tokenizer.json",
        "trifuse.json",
    }
    assert json.loads((folder / "trifuse.json").read_text()) == {
        "name": "tiny-lader",
        "precision": "fp32",
        "dimension": 32,
        "pooling": "cls",
        "max_tokens": 64,
        "normalized": False,
        "similarity": "dot",
        "query_prefix": "",
        "document_prefix": "",
        "query_model": "query.onnx",
        "pair_separator": "[SEP]",
        "parts": [],
        "licence": "MIT",
    }
    encoder = load_encoder(str(folder))
    # [CLS] heart disease [SEP] treatment of the heart [SEP], by the order of the vocabulary
    ids = torch.tensor([[2, 12, 5, 3, 6, 7, 8, 12, 3]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 1]])
    tokens = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": types}
    for found, tower in (
        (encoder.encode_documents([PAIR]), towers.document),
        (encoder.encode_queries([PAIR]), towers.query),
    ):
        np.testing.assert_allclose(found, vectors_of(tower, tokens).numpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(encoder.encode_queries([PAIR]) - encoder.encode_documents([PAIR])).max() > 0.1
    checked = check_encoder(encoder)
    assert (checked.faults, checked.towers) == ((), 2)


def test_a_graph_that_is_off_is_not_put_in_the_folder(
    bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is a query tower that was exchanged between the export and the check."""
    from trifuse.encoder.training import export
    from trifuse.encoder.training.towers import Towers

    towers, written = Towers(bert(num_hidden_layers=1)), export.export_graph

    def exchange(tower: Any, path: Path) -> None:
        written(tower, path)
        towers.query = bert(seed=3, num_hidden_layers=1)

    monkeypatch.setattr(export, "export_graph", exchange)
    with pytest.raises(ExportFailed, match=r"cosine -?0\.\d+, expected 0\.9999"):
        _export(towers, tokenizer_file, tmp_path / "model")
    assert list((tmp_path / "model").iterdir()) == []
