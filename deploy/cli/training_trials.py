"""What `trifuse train trial2vec` learns from: the trials of files, parted by their ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trifuse.deploy.tenths import tenth_of
from trifuse.encoder.training.trial2vec import TrialParts
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.trial_parts import trial_parts

_NAMED = ("conditions", "condition_mesh", "interventions", "intervention_mesh")


@dataclass
class TrainingTrials:
    """The trials of some files, each once.

    Args:
        learned: to learn from.
        dev: by which the training is ended.
        held_out: how many others were left out.
        named: of those to learn from, what a dictionary of names is made of.
        rejected: what couldn't be read as a trial.
    """

    learned: list[TrialParts] = field(default_factory=list)
    dev: list[TrialParts] = field(default_factory=list)
    held_out: int = 0
    named: list[Mapping[str, Any]] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)


def training_trials(
    items: Iterable[Record | Rejection],
    held_out: Collection[int],
    progress: Callable[[int], None] = lambda read: None,
) -> TrainingTrials:
    """Part the trials of a stream; of a trial that comes twice the first one stays.

    Args:
        held_out: the tenths that aren't learned from; the first one is the dev set.
        progress: told how many were read.
    """
    found = TrainingTrials()
    dev = next(iter(held_out), None)
    seen: set[str] = set()
    for number, item in enumerate(items, start=1):
        progress(number)
        if isinstance(item, Rejection):
            found.rejected.append(item)
            continue
        trial = item.trial
        if trial.nct_id in seen:
            continue
        seen.add(trial.nct_id)
        tenth = tenth_of(trial.nct_id)
        if tenth in held_out and tenth != dev:
            found.held_out += 1
            continue
        source = trial.source()
        parts = TrialParts(trial.nct_id, trial_parts(source), trial.conditions)
        if tenth == dev:
            found.dev.append(parts)
        else:
            found.learned.append(parts)
            found.named.append({name: source[name] for name in _NAMED})
    return found
