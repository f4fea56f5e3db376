"""What both ways of encoding a trial are given."""

from __future__ import annotations

from speed_trial2vec import _cut
from tiny_model import make_tokenizer

from trifuse.encoder.parts import Part


def test_a_part_is_cut_where_the_model_would_cut_it() -> None:
    """[CLS], two words and [SEP] are four tokens."""
    tokenizer = make_tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "heart", "lung"])
    part = Part(name="title", max_tokens=4)
    assert _cut("heart  lung heart lung", tokenizer, part) == "heart  lung"
    assert _cut("heart lung", tokenizer, part) == "heart lung"
