"""A search by Optuna's TPE sampler (Bergstra et al. 2011): it proposes settings near those that were good."""

from __future__ import annotations

import importlib
from typing import Any

from trifuse.ranker.errors import ExtraMissing
from trifuse.ranker.tuning.selection import Positions, Score, Search
from trifuse.ranker.tuning.space import Setting, Space


def require_optuna() -> Any:
    """The package.

    Raises:
        ExtraMissing: it isn't installed.
    """
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        raise ExtraMissing(
            f"this search needs Optuna ({error}): pip install 'trifuse[tune]', or use grid or random"
        ) from error


def optuna_search(space: Space, trials: int, seed: int) -> Search:
    """A study of so many trials for each set of queries, which sees their values alone.

    Raises:
        ExtraMissing: Optuna isn't installed.
    """
    optuna = require_optuna()

    def search(score: Score, train: Positions) -> list[Setting]:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        tried: dict[Setting, None] = {}
        for _ in range(trials):
            trial = study.ask()
            setting = _suggested(space, trial)
            tried[setting] = None
            study.tell(trial, float(score([setting])[0, train].mean()))
        return list(tried)

    return search


def _suggested(space: Space, trial: Any) -> Setting:
    names = [f"{normalization}, {combination}" for normalization, combination in space.techniques]
    normalization, combination = space.techniques[names.index(trial.suggest_categorical("technique", names))]
    low, high = min(space.dense), max(space.dense)
    most = max(space.clicks_for(combination))
    return Setting(
        dense=round(trial.suggest_float("dense", low, high, step=0.02), 6) if low < high else float(low),
        # As a share of the most, since what is much depends on the combination.
        clicks=round(most * trial.suggest_float("clicks", 0.0, 1.0, step=0.05), 6) if most else 0.0,
        normalization=normalization,
        combination=combination,
        rank_constant=(
            trial.suggest_categorical("rank_constant", list(space.rank_constants))
            if combination == "rrf"
            else 60
        ),
        depth=trial.suggest_categorical("depth", list(space.depths)),
    )
