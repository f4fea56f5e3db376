"""A named model back as a checkpoint: the same vectors, from torch."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from trifuse.encoder import load_encoder

pytestmark = [
    pytest.mark.train,
    pytest.mark.integration,
    pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs the extra train"),
]

TEXTS = [
    "Aspirin for stroke in adults",
    "β-blocker (≥ 50 mg/day)",
    "睡眠",
    "The tide table of the harbour. " * 60,
]


def test_bge_rebuilt_from_its_graph_gives_its_vectors() -> None:
    import torch

    from trifuse.encoder.tokens import TextTokenizer
    from trifuse.encoder.training import open_checkpoint
    from trifuse.encoder.training.batches import tensors
    from trifuse.encoder.training.towers import vectors_of

    expected = load_encoder("bge-small-en-v1.5").encode_documents(TEXTS).astype(np.float64)
    with open_checkpoint("bge-small-en-v1.5") as start:
        assert (start.max_tokens, start.separator, start.licence) == (512, "[SEP]", "MIT")
        assert start.transformer.config.num_attention_heads == 12
        assert start.transformer.dtype == torch.float32
        tokenizer = TextTokenizer(start.tokenizer, start.max_tokens)
        tokens = tensors(tokenizer, tokenizer.tokenize(TEXTS)[0], segments=True)
        found = vectors_of(start.transformer, tokens).double().numpy()
    cosines = (found * expected).sum(axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() >= 0.9999999
