"""Texts with exchanged entities: the same for the same text, and nothing where nothing is known."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.train


def test_the_text_and_the_variant_decide(organs: Any) -> None:
    from trifuse.encoder.training.trial2vec.local import LocalPairs

    pairs = LocalPairs(organs, 64)
    found = {variant: pairs("trial of the heart", variant) for variant in range(40)}
    assert {pair.positive for pair in found.values() if pair} == {"trial of the lung"}
    negatives = {pair.negative for pair in found.values() if pair}
    assert "trial of the" in negatives  # deleted
    assert "trial of the liver" in negatives  # exchanged
    assert "trial of the lung" not in negatives
    assert found == {variant: LocalPairs(organs, 64)("trial of the heart", variant) for variant in range(40)}


def test_what_may_be_cut_off_isnt_exchanged(organs: Any) -> None:
    from trifuse.encoder.training.trial2vec.local import LocalPairs

    pairs = LocalPairs(organs, 8)  # 24 characters are sure to be seen
    assert pairs("disease of the treatment of the heart", 0) is None
    pair = pairs("heart disease and treatment of the skin", 0)
    assert pair is not None
    assert pair.positive == "lung disease and treatment of the skin"
    assert pair.negative.endswith("disease and treatment of the skin")


def test_no_entity_no_pair(organs: Any) -> None:
    from trifuse.encoder.training.trial2vec.local import LocalPairs

    assert LocalPairs(organs, 64)("a trial of aspirin", 0) is None
