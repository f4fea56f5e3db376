"""From a checkpoint's folder to a model's folder, and on from a stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from trifuse.encoder import load_encoder
from trifuse.encoder.errors import CheckpointInvalid

pytestmark = pytest.mark.train


def test_a_checkpoint_becomes_a_model(
    checkpoint: Path, examples: Callable[[], Iterator[Any]], tmp_path: Path
) -> None:
    from trifuse.encoder.training import Recipe, train_lader

    recipe = Recipe(steps=6, warmup_steps=1, batch=4, learning_rate=1e-3, query_tokens=8, document_tokens=16)
    folder, between = tmp_path / "model", []

    def made(separator: str) -> Iterator[Any]:
        between.append(separator)
        return examples()

    class Killed(Exception):
        pass

    def kill(step: Any) -> None:
        if step.number == 4:
            raise Killed

    options: dict[str, Any] = {"name": "lader-test", "save_every": 3}
    with pytest.raises(Killed):
        train_lader(str(checkpoint), made, recipe, folder, on_step=kill, **options)
    assert [path.name for path in folder.iterdir()] == ["state"]
    report = train_lader(str(checkpoint), made, recipe, folder, resume=True, **options)
    assert report is not None
    assert between == [" [SEP] ", " [SEP] "]
    said = json.loads((folder / "training.json").read_text())
    assert said == json.loads(json.dumps(report.as_dict()))
    assert (said["steps"], said["seed"], len(said["loss"]), said["device"]) == (6, 0, 6, "cpu")
    assert said["parity"] >= 0.9999
    assert said["loss_first"] == pytest.approx(sum(said["loss"]) / 6)
    assert not (folder / "state").exists()
    encoder = load_encoder(str(folder))
    assert encoder.space.encoder == "lader-test"
    assert encoder.encode_queries(["heart"]).shape == (1, 32)


def test_a_checkpoint_is_what_it_was(checkpoint: Path) -> None:
    import torch
    from transformers import AutoModel

    from trifuse.encoder.training import open_checkpoint
    from trifuse.encoder.training.towers import vectors_of

    tokens = {"input_ids": torch.tensor([[2, 12, 3]])}
    with open_checkpoint(str(checkpoint)) as start:
        assert (start.separator, start.max_tokens) == ("[SEP]", 64)
        assert json.loads(start.tokenizer.read_text())["model"]["vocab"]["heart"] == 12
        found = vectors_of(start.transformer, tokens).numpy()
    expected = AutoModel.from_pretrained(checkpoint).eval()(**tokens).last_hidden_state[:, 0]
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "'nowhere' is no checkpoint"),
        ("bge-small-en-v1.5-int8", "in int8: weights that were rounded"),
    ],
)
def test_what_cant_be_trained_further(
    name: str, said: str, make_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from trifuse.encoder.description import read_model
    from trifuse.encoder.training import checkpoints, open_checkpoint

    int8 = read_model(make_model(tmp_path / "int8", {"a": (1.0, 2.0)}, precision="int8"))
    monkeypatch.setattr(checkpoints, "open_model", lambda name: int8)
    with pytest.raises(CheckpointInvalid, match=said), open_checkpoint(name):
        pass


def test_a_graph_that_is_no_bert_cant_be_trained_further(
    make_model: Callable[..., Path], tmp_path: Path
) -> None:
    from trifuse.encoder.training import open_checkpoint

    folder = make_model(tmp_path / "tiny", {"a": (1.0, 2.0)})
    with pytest.raises(CheckpointInvalid, match="no plain export of a BERT"), open_checkpoint(str(folder)):
        pass


def test_a_damaged_checkpoint_is_said_to_be(checkpoint: Path) -> None:
    from trifuse.encoder.training import open_checkpoint

    (checkpoint / "model.safetensors").write_bytes(b"cut off")
    with (
        pytest.raises(CheckpointInvalid, match="can't be loaded as a checkpoint"),
        open_checkpoint(str(checkpoint)),
    ):
        pass


def test_a_checkpoint_in_the_older_layout(bert: Callable[..., Any], tmp_path: Path) -> None:
    """As PubMedBERT is published: `vocab.txt`, weights by torch, named after the whole model, with a head."""
    import torch
    from transformers import BertForMaskedLM

    from trifuse.encoder.training import open_checkpoint
    from trifuse.encoder.training.towers import segments, vectors_of

    plain = bert()
    whole = BertForMaskedLM(plain.config)
    whole.bert.load_state_dict(plain.state_dict())
    folder = tmp_path / "older"
    plain.config.save_pretrained(folder)
    torch.save(whole.state_dict(), folder / "pytorch_model.bin")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "heart", "##s", "lung"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    tokens = {"input_ids": torch.tensor([[2, 5, 6, 3]])}
    with open_checkpoint(str(folder)) as start:
        assert (start.separator, segments(start.transformer)) == ("[SEP]", True)
        tokenizer = Tokenizer.from_file(str(start.tokenizer))
        assert tokenizer.encode("Hearts [SEP] lung").ids == [2, 5, 6, 3, 7, 3]
        assert vectors_of(start.transformer, tokens).equal(vectors_of(plain, tokens))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", "[]"),
        ("tokenizer.json", "{}"),
        ("tokenizer.json", '{"added_tokens": []}'),
        ("config.json", "{"),
    ],
)
def test_files_of_a_checkpoint_that_are_none(checkpoint: Path, name: str, content: str) -> None:
    from trifuse.encoder.training import open_checkpoint

    (checkpoint / name).write_text(content)
    with (
        pytest.raises(CheckpointInvalid, match="can't be loaded as a checkpoint"),
        open_checkpoint(str(checkpoint)),
    ):
        pass


def test_a_checkpoint_without_a_tokenizer_of_its_own(checkpoint: Path) -> None:
    """A token that the transformer has no row for; then no words at all, which transformers makes up."""
    from trifuse.encoder.training import open_checkpoint

    words = json.loads((checkpoint / "tokenizer.json").read_text())
    words["model"]["vocab"]["heart"] = 5000
    (checkpoint / "tokenizer.json").write_text(json.dumps(words))
    with pytest.raises(CheckpointInvalid, match="a token of number 5000"), open_checkpoint(str(checkpoint)):
        pass
    (checkpoint / "tokenizer.json").unlink()
    (checkpoint / "tokenizer_config.json").unlink()
    with pytest.raises(CheckpointInvalid, match="has no tokenizer"), open_checkpoint(str(checkpoint)):
        pass
