"""What Trial2Vec learns from: trials as parts, and which of them are of the same disease."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.training.entities.words import meaning_words

TITLE = "title"
DISEASE = "condition"
"""The parts that have a role of their own: what a hard negative exchanges, and what it keeps."""

Numbers = NDArray[np.intp]
Mask = NDArray[np.bool_]


class TrialParts(NamedTuple):
    """A trial: its id, the texts of its parts, and what it is about.

    Args:
        id: says nothing to the training but in errors.
        parts: part to text, of those that the trial has.
        conditions: the names of its diseases, one each.
    """

    id: str
    parts: Mapping[str, str]
    conditions: Sequence[str] = ()


def disease_key(name: str) -> str:
    """What two spellings of a disease's name have in common; "" where nothing is left.

    >>> disease_key("Neoplasms of the Breast") == disease_key("Breast cancer")
    True
    """
    return " ".join(sorted(meaning_words(name)))


def disease_keys(trial: TrialParts) -> frozenset[str]:
    """The keys of a trial's diseases: those that it names one by one, or else those of its part."""
    names = trial.conditions or trial.parts.get(DISEASE, "").split("; ")
    return frozenset(key for key in map(disease_key, names) if key)


class Diseases:
    """Which trials share a disease.

    Args:
        keys: of each trial, the keys of its diseases.
    """

    def __init__(self, keys: Sequence[frozenset[str]]) -> None:
        self._keys = keys
        self._trials: dict[str, list[int]] = {}
        for trial, found in enumerate(keys):
            for key in found:
                self._trials.setdefault(key, []).append(trial)

    def mate(self, trial: int, chance: np.random.Generator) -> int | None:
        """Another trial of one of its diseases, the diseases drawn evenly; None where there is none."""
        shared = [key for key in sorted(self._keys[trial]) if len(self._trials[key]) > 1]
        if not shared:
            return None
        trials = self._trials[shared[chance.integers(len(shared))]]
        # One is left out by drawing from one fewer, and stepping over it.
        place = int(chance.integers(len(trials) - 1))
        return trials[place + (trials[place] >= trial)]

    def shared(self, trials: Numbers) -> Mask:
        """(n, n) bool: whether two of them share a disease; each shares its own with itself."""
        found = np.eye(len(trials), dtype=np.bool_)
        at: dict[str, list[int]] = {}
        for place, trial in enumerate(trials.tolist()):
            for key in self._keys[trial]:
                at.setdefault(key, []).append(place)
        for places in at.values():
            found[np.ix_(places, places)] = True
        return found


def minibatches(count: int, size: int, seed: int) -> Iterator[Numbers]:
    """Whole minibatches without end: every trial once a round, in another order each round.

    What a round's end leaves is left out until the next.
    """
    for round_ in range(2**31):
        order = np.random.default_rng((seed, round_)).permutation(count)
        for start in range(0, count - size + 1, size):
            yield order[start : start + size]


def two_views(
    present: Mask, names: Sequence[str], context: str | None, chance: np.random.Generator
) -> tuple[Mask, Mask]:
    """Each trial as two that have no part in common, so that neither is known by what stands in both.

    Title and context, which say much the same, are together in one; the disease is in the other, so that it
    is what holds trials together; every other part goes to either. A trial whose parts all fall into one view
    is whole in the other one too.

    Args:
        present: (trials, parts) bool.
        names: of the parts.
    """
    first = chance.random(present.shape) < 0.5
    side = chance.random(len(present)) < 0.5
    for number, name in enumerate(names):
        if name in (TITLE, context):
            first[:, number] = side
        elif name == DISEASE:
            first[:, number] = ~side
    views = present & first, present & ~first
    return _whole_where_empty(views[0], present), _whole_where_empty(views[1], present)


def dropped(present: Mask, rate: float, chance: np.random.Generator) -> Mask:
    """(trials, parts) bool: what stays when each part is dropped by a chance; one part always does."""
    stays = present & (chance.random(present.shape) >= rate)
    spared = np.where(present, chance.random(present.shape), -1).argmax(axis=1)
    lost = present.any(axis=1) & ~stays.any(axis=1)
    stays[lost, spared[lost]] = True
    return stays


def _whole_where_empty(view: Mask, present: Mask) -> Mask:
    return np.where(view.any(axis=1, keepdims=True), view, present)
