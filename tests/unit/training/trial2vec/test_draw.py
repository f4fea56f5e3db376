"""Minibatches of a run: the same for the same seed and step, with what a trial lacks left out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.train


def _draws(trials: Any, recipe: Any, source: Any = None) -> Any:
    from trifuse.encoder.training.trial2vec import PARTS
    from trifuse.encoder.training.trial2vec.draw import Draws
    from trifuse.encoder.training.trial2vec.local import LocalPairs

    return Draws(trials, PARTS, recipe, LocalPairs(source, 64) if source else None)


def _said(draw: Any) -> Any:
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in draw]


def test_a_step_is_drawn_again_as_it_was(trials: Any, recipe: Callable[..., Any], organs: Any) -> None:
    for views in ("dropout", "complementary"):
        draws = _draws(trials, recipe(views=views), organs)
        first = [_said(draw) for draw in islice(draws.from_step(), 5)]
        assert [_said(draw) for draw in islice(draws.from_step(3), 2)] == first[3:]
        other = _draws(trials, recipe(views=views, seed=1), organs)
        assert [_said(draw) for draw in islice(other.from_step(), 5)] != first


def test_the_negative_has_the_title_of_a_trial_of_the_same_disease(
    trials: Any, recipe: Callable[..., Any]
) -> None:
    for draw in islice(_draws(trials, recipe()).from_step(), 10):
        for place, number in enumerate(draw.trials.tolist()):
            title = draw.titles[place].get("title")
            mate = trials[number ^ 1].parts.get("title")  # trials of one organ stand side by side
            assert title == mate
            has_title = bool(draw.second[place, 0])
            assert draw.without_negative[place] == (title is None or not has_title)
            assert (draw.changed[place] == draw.second[place]).all()


def test_what_has_no_mate_or_the_same_title_has_no_negative(recipe: Callable[..., Any]) -> None:
    from trifuse.encoder.training.trial2vec import TrialParts

    titles = [("asthma", "A trial"), ("asthma", "A trial"), ("gout", "Gout"), ("rare", "Rare")]
    some = [TrialParts(name, {"title": title, "condition": name}) for name, title in titles]
    for views in ("dropout", "complementary"):
        draw = next(_draws(some, recipe(batch=4, views=views)).from_step())
        assert draw.without_negative.all()
        assert draw.titles == [{}, {}, {}, {}]


def test_the_papers_negative_keeps_the_whole_trial(trials: Any, recipe: Callable[..., Any]) -> None:
    draws = _draws(trials, recipe(views="dropout", dropout=0.5))
    for draw in islice(draws.from_step(), 5):
        present = np.array(
            [
                [name in parts for name in ("title", "intervention", "condition", "outcome", "context")]
                for parts in draw.parts
            ]
        )
        assert (draw.first == present).all()
        assert (draw.changed == present).all()
        assert (draw.second <= present).all()
    without = next(_draws(trials, recipe(views="dropout", hard_negatives=False)).from_step())
    assert without.without_negative.all()


def test_texts_with_exchanged_entities(trials: Any, recipe: Callable[..., Any], organs: Any) -> None:
    draws = _draws(trials, recipe(), organs)
    for draw in islice(draws.from_step(), 5):
        texts = draw.texts()
        assert len(texts) == 16
        for place, number in enumerate(draw.trials.tolist()):
            part, pair = draw.local[place]  # every trial names an organ
            assert part != "context"
            assert pair.text == trials[number].parts[part]
            assert texts[place] == {part: pair.positive}
            assert texts[8 + place] == {part: pair.negative}
    assert next(_draws(trials, recipe()).from_step()).local == [None] * 8


def test_more_than_there_is_cant_be_drawn(trials: Any, recipe: Callable[..., Any]) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    with pytest.raises(TrainingInvalid, match="3 trials to train on, and batch=8"):
        _draws(trials[:3], recipe())
    with pytest.raises(TrainingInvalid, match="0 trials to train on"):
        _draws([], recipe())
