"""A BERT of a few thousand weights, on a vocabulary of organs; without torch, nothing here is collected."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_*.py", "*/test_*.py"]

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ORGANS = ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood", "spleen", "thyroid")
WORDS = ("disease", "treatment", "of", "the", "a", "trial", "aspirin", *ORGANS)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """So small a model is slower on several threads, and far slower beside busy neighbours."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of whole words, with BERT's special tokens and pairs."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    path = tmp_path_factory.mktemp("tokenizer") / "words.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="session")
def make_model() -> Callable[..., Path]:
    """`make_model(folder, words, **description)`: see benchmarks/tiny_model.py."""
    builder: Callable[..., Path] = runpy.run_path(str(BUILDER))["make_model"]
    return builder


@pytest.fixture(scope="session")
def bert() -> Callable[..., Any]:
    """`bert(seed, **config)`: random weights, the same for the same seed."""

    def build(seed: int = 0, **config: Any) -> Any:
        import torch
        from transformers import BertConfig, BertModel

        torch.manual_seed(seed)
        tiny = {
            "vocab_size": len(SPECIAL) + len(WORDS),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 64,
            "initializer_range": 0.2,
        }
        return BertModel(BertConfig(**(tiny | config)), add_pooling_layer=False)

    return build


@pytest.fixture
def checkpoint(bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path) -> Path:
    """A folder as `save_pretrained` writes it."""
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path / "checkpoint"
    bert(num_hidden_layers=1).save_pretrained(folder)
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file), **special).save_pretrained(folder)
    return folder


@pytest.fixture
def run_in_processes(tmp_path: Path) -> Callable[..., Any]:
    """`run_in_processes(script, number, *arguments)`: the JSON that a script prints last, run in so many
    processes; its arguments are `tmp_path`, the number, and these.
    """

    def run(script: str, number: int, *arguments: Path) -> Any:
        path = tmp_path / "script.py"
        path.write_text(script)
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={number}"]
        done = subprocess.run(
            [
                sys.executable,
                *(launch if number > 1 else []),
                *map(str, (path, tmp_path, number, *arguments)),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture
def examples() -> Callable[[], Iterator[Any]]:
    """`examples()`: an organ, a text on it, a text on another organ; without end, always the same."""

    def make() -> Iterator[Any]:
        from trifuse.encoder.training import Example, Passage

        chance = random.Random(1)
        for _ in itertools.count():
            asked, other = chance.sample(ORGANS, 2)
            texts = [
                Passage(organ, f"{organ} disease [SEP] treatment of the {organ}") for organ in (asked, other)
            ]
            yield Example(asked, *texts)

    return make
