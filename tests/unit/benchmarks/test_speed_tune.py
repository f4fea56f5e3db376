"""Weight settings that are scored beside a peer: that both do the same, and how it is counted."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import speed_tune
from made_up_legs import made_up

from trifuse.ranker.types import LEGS

OPTIONS = argparse.Namespace(
    settings=6,
    tuned_queries=3,
    tuned_depth=30,
    documents=90,
    alike=0.5,
    peer_settings=2,
    peer_python=None,
    runs=10,
)


def ndcg(ranking: list[str], judged: Mapping[str, int]) -> float:
    """Of the first ten, with linear gains."""

    def dcg(grades: list[int]) -> float:
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades[:10]))

    ideal = dcg(sorted(judged.values(), reverse=True))
    return dcg([judged.get(id, 0) for id in ranking]) / ideal if ideal else 0.0


class Peer:
    """Does in plain Python what the peer does; so slowly that a round takes 2 s, and 4 s for two settings."""

    def __init__(self, off: float = 0.0) -> None:
        self.off = off
        self.asked: list[list[list[float]]] = []

    @contextmanager
    def asking(self, python: Any, script: str) -> Iterator[Any]:
        assert script == "ranx_fusion.py"
        yield self.answer

    def answer(self, **request: Any) -> dict[str, Any]:
        if "runs" in request:
            self.runs, self.qrels = request["runs"], request["qrels"]
            return {"build_s": 1.0}
        self.asked.append(request["weights"])
        values = [self.mean(weights) + self.off for weights in request["weights"]]
        return {"normalize_s": 2.0, "settings_s": 4.0, "values": values}

    def mean(self, weights: list[float]) -> float:
        values = []
        for query, judged in self.qrels.items():
            fused: dict[str, float] = {}
            for run, weight in zip(self.runs, weights, strict=True):
                low, high = min(run[query].values()), max(run[query].values())
                for id, score in run[query].items():
                    fused[id] = fused.get(id, 0.0) + weight * (score - low) / (high - low)
            values.append(ndcg(sorted(fused, key=lambda id: -fused[id]), judged))
        return sum(values) / len(values)


def test_the_same_is_scored_and_seconds_are_scaled_by_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 s once, and 4 s for two of six settings: 14 s for all."""
    peer = Peer()
    monkeypatch.setattr(speed_tune, "asking", peer.asking)
    report = speed_tune.measure(OPTIONS)
    ratio, [row] = report.ratios["tune"], report.growth
    assert ratio.unit == "settings/s"
    assert ratio.peer == pytest.approx(6 / 14)
    assert ratio.ratio == pytest.approx(ratio.ours / ratio.peer, rel=0.5)
    assert (row["settings"], row["queries"], row["depth"]) == (6, 3, 30)
    assert row["peer_score_s"] == pytest.approx(14.0)
    assert row["peer_build_s"] == 1.0
    assert min(row["score_s"], row["build_s"]) > 0
    assert len(peer.asked) == 11
    assert len({tuple(weights) for asked in peer.asked for weights in asked}) == 6


def test_another_result_is_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_tune, "asking", Peer(off=1e-4).asking)
    with pytest.raises(SystemExit, match=r"nDCG@10 differ by 0\.0001"):
        speed_tune.measure(OPTIONS)


def test_made_up_legs_are_the_same_again_and_correlate_with_what_is_relevant() -> None:
    data = made_up(20, 30, documents=90, alike=0.9)
    assert data == made_up(20, 30, documents=90, alike=0.9)
    first, last = [], []
    for leg in LEGS:
        for query, scores in data.legs[leg].items():
            assert len(scores) == 30
            assert list(scores.values()) == sorted(scores.values(), reverse=True)
            grades = [data.qrels[query].get(id, 0) for id in scores]
            first += grades[:10]
            last += grades[-10:]
    assert np.mean(first) > 1.5 * np.mean(last)
    found = data.collected()
    assert found.legs == LEGS
    assert found.depth == 30
