"""What one step of the training compares, drawn by the seed and the step's number.

A resumed run, and each of several processes, draw what the run would have drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.parts import Part
from trifuse.encoder.training.entities import Swapped
from trifuse.encoder.training.trial2vec.examples import (
    TITLE,
    Diseases,
    Mask,
    Numbers,
    TrialParts,
    disease_keys,
    dropped,
    minibatches,
    two_views,
)
from trifuse.encoder.training.trial2vec.local import LocalPairs
from trifuse.encoder.training.trial2vec.recipe import Recipe

Texts = Mapping[str, str]


class Draw(NamedTuple):
    """A minibatch of n trials.

    Args:
        trials: (n,) which ones.
        parts: their texts.
        first, second: (n, parts) bool, the parts that the two views of each have.
        changed: (n, parts) bool, the parts of the view whose title is exchanged: the negative.
        titles: n mappings with the other's title, which is empty where there is none.
        without_negative: (n,) bool, true where no other title is to be had, or none would be seen.
        shared: (n, n) bool, which of them share a disease.
        local: part and its text with entities exchanged, for each trial that has one; None for the others.
    """

    trials: Numbers
    parts: list[Texts]
    first: Mask
    second: Mask
    changed: Mask
    titles: list[Texts]
    without_negative: Mask
    shared: Mask
    local: list[tuple[str, Swapped] | None]

    def masks(self) -> Mask:
        """(3, n, parts) bool: the parts of the two views, and of the negative."""
        return np.stack([self.first, self.second, self.changed])

    def texts(self) -> list[Texts]:
        """The local positives of all trials, then their negatives; nothing where a trial has none."""
        return [
            {each[0]: getattr(each[1], form)} if each else {}
            for form in ("positive", "negative")
            for each in self.local
        ]


class Draws:
    """The minibatches of a run.

    Args:
        trials: to train on, each with a part at least.
        parts: that a trial may have.
        pairs: of texts with exchanged entities; None: there is no local loss.

    Raises:
        TrainingInvalid: there are fewer trials than a minibatch takes.
    """

    def __init__(
        self, trials: Sequence[TrialParts], parts: Sequence[Part], recipe: Recipe, pairs: LocalPairs | None
    ) -> None:
        require_enough(trials, recipe)
        self._trials = trials
        self._recipe = recipe
        self._pairs = pairs
        self._names = [part.name for part in parts]
        self._keys = [part.name for part in parts if not part.context]
        self._context = next((part.name for part in parts if part.context), None)
        self._present = present(trials, self._names)
        self._diseases = Diseases([disease_keys(trial) for trial in trials])

    def from_step(self, done: int = 0) -> Iterator[Draw]:
        """The minibatches behind those that were done, without end."""
        numbers = minibatches(len(self._trials), self._recipe.batch, self._recipe.seed)
        for step, trials in zip(count(), numbers, strict=False):
            if step >= done:
                yield self._draw(trials, np.random.default_rng((self._recipe.seed, 1, step)))

    def _draw(self, numbers: Numbers, chance: np.random.Generator) -> Draw:
        there = self._present[numbers]
        if self._recipe.views == "complementary":
            first, second = two_views(there, self._names, self._context, chance)
            changed = second
        else:
            first, second = there, dropped(there, self._recipe.dropout, chance)
            changed = first
        titles = [self._other_title(number, chance) for number in numbers.tolist()]
        seen = changed[:, self._names.index(TITLE)] if TITLE in self._names else np.zeros(len(numbers), bool)
        return Draw(
            numbers,
            [self._trials[number].parts for number in numbers],
            first,
            second,
            changed,
            titles,
            ~(seen & np.array([bool(title) for title in titles])),
            self._diseases.shared(numbers),
            [self._local(number, chance) for number in numbers.tolist()],
        )

    def _other_title(self, number: int, chance: np.random.Generator) -> Texts:
        mate = self._diseases.mate(number, chance) if self._recipe.hard_negatives else None
        title = self._trials[mate].parts.get(TITLE, "") if mate is not None else ""
        return {TITLE: title} if title and title != self._trials[number].parts.get(TITLE) else {}

    def _local(self, number: int, chance: np.random.Generator) -> tuple[str, Swapped] | None:
        """A key attribute with its entities exchanged: of the first, in a random order, that has any."""
        if self._pairs is None:
            return None
        variant = int(chance.integers(self._recipe.local_variants))
        for place in chance.permutation(len(self._keys)).tolist():
            text = self._trials[number].parts.get(self._keys[place])
            found = self._pairs(text, variant) if text else None
            if found is not None:
                return self._keys[place], found
        return None


def require_enough(trials: Sequence[TrialParts], recipe: Recipe) -> None:
    """Raises TrainingInvalid where there are fewer trials than a minibatch takes."""
    if len(trials) < recipe.batch:
        raise TrainingInvalid(
            f"{len(trials)} trials to train on, and batch={recipe.batch}: give more trials, or a smaller "
            "batch"
        )


def present(trials: Sequence[TrialParts], names: Sequence[str]) -> Mask:
    """(trials, parts) bool: which parts each trial has."""
    return np.array([[name in trial.parts for name in names] for trial in trials], dtype=np.bool_)
