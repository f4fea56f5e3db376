"""Counters that survive the process that counted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoding
from trifuse.worker.metrics import CountedEncoder, Counters, Metrics, read_metrics, sums

SPACE = EncoderSpace("test", "1", "fp32", "cls", 2, True, "cosine")


class Fixed:
    space = SPACE
    provider = "cuda:0"

    def encode(self, texts: list[Any], *, role: str) -> Encoding:
        if "fatal" in texts:
            raise MemoryError
        return Encoding(
            np.ones((len(texts), 2), np.float32), np.array([True] + [False] * (len(texts) - 1)), {}
        )

    def encode_queries(self, texts: list[str]) -> Any:
        return self.encode(texts, role="query").vectors

    encode_documents = encode_queries


def test_calls_and_texts_are_on_disk_before_the_work_starts(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    encoder = CountedEncoder(Fixed(), metrics)
    metrics.started(encoder)
    encoder.encode(["a", "b", "c"], role="document")
    with pytest.raises(MemoryError):
        encoder.encode(["fatal"], role="document")
    encoder.encode_queries(["q"])  # counts no truncation: it gives vectors only
    assert read_metrics(tmp_path) == [
        Counters(
            pid=os.getpid(),
            sessions=1,
            provider="cuda:0",
            space=SPACE.id,
            calls=3,
            texts=5,
            truncated=1,
        )
    ]


def test_sums_over_processes_gone_and_present(tmp_path: Path) -> None:
    assert set(sums([]).values()) == {0}
    found = sums([Counters(pid=1, calls=2, embedded=10), Counters(pid=2, calls=3, failed=1)])
    assert (found["calls"], found["embedded"], found["failed"]) == (5, 10, 1)


def test_a_file_that_is_cut_in_the_middle_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "host-1.json").write_bytes(b'{"pid": 1, "calls"')
    Metrics(tmp_path).add(tasks=1)
    assert [counters.tasks for counters in read_metrics(tmp_path)] == [1]
