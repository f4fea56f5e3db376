"""Choose how patients' notes are matched with trials, on the topics of TREC 2021, and say what that is worth.

    python benchmarks/trials_tune.py --data DIR [--save FILE] [--json]

A choice is a body (trials_bodies.py) and a setting of the fusion. What is reported as held out is nested:
each fold is measured by a choice made without it, and the whole is done for several ways to part the topics.
The server's best of its 66 settings is chosen over the same legs by the same topics. --save writes the
profiles that `trials.py` compares. OPENSEARCH_URL and REDIS_URL, both set, name services to use; else it
starts its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from kept_encoder import FOLDER, kept_encoder
from nfcorpus_index import fresh_index, services, tell
from rich.console import Console
from trials_bodies import CHOICES, PLAIN, telling_words
from trials_data import QRELS, QUERIES, TRIALS, Topics, read_topics
from trials_index import load_trials
from trials_profiles import HYBRID
from trials_server import SETTINGS, server_values
from trials_tables import tables

from trifuse.encoder import DEFAULT_ENCODER
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.significance import bootstrap_ci, randomisation_p
from trifuse.ranker.tuning import Collected, Measure, Setting, Space, Tuning, collect, measure_profiles, tune
from trifuse.ranker.tuning.selection import in_folds
from trifuse.ranker.types import Floats

MEASURE = "nDCG@10"
DEPTH = 1000
SPACE = Space(
    dense=tuple(step / 10 for step in range(2, 7)),
    techniques=(("min_max", "weighted_sum"), ("l2", "weighted_sum"), ("z_score", "weighted_sum")),
    depths=(100, DEPTH),
)


class Choice(NamedTuple):
    """A body and a setting of the fusion."""

    topic: float
    criteria: float
    setting: Setting

    def profile(self) -> Profile:
        """The profile that serves it."""
        body = telling_words(self.topic, self.criteria)
        return replace(self.setting.profile(HYBRID), name="tuned", body=body)


@dataclass(frozen=True)
class Legs:
    """What was retrieved: for each body of `CHOICES`, and for the plain one."""

    telling: Mapping[tuple[float, float], Collected]
    plain: Collected
    qrels: Mapping[str, Mapping[str, int]]


def retrieve(folder: Path, topics: Topics, encoder_name: str, vectors: Path) -> Legs:
    """Index the trials, and ask both legs by every body."""
    with (
        services() as (client, redis),
        fresh_index(client, redis, "trials") as index,
        kept_encoder(encoder_name, vectors) as encoder,
    ):
        topics = topics.over(load_trials(client, encoder, index, folder / TRIALS))
        ranker = HybridRanker(client, encoder)
        asked = evaluated_queries(topics.qrels, topics.queries)
        queries = {query: topics.queries[query] for query in asked}
        telling = {}
        for choice in CHOICES:
            telling[choice] = collect(ranker, index, queries, depth=DEPTH, body=telling_words(*choice))
            tell(f"boosts {choice}: {len(queries)} queries")
        plain = collect(ranker, index, queries, depth=DEPTH, body=PLAIN)
        ranker.close()
    return Legs(telling, plain, {query: topics.qrels[query] for query in asked})


def all_choices(legs: Legs) -> tuple[list[Choice], Floats]:
    """Every body with every setting, and what it is worth: (choices, queries)."""
    settings = SPACE.within(legs.plain, legs.plain.profile).grid()
    profiles = [setting.profile(HYBRID) for setting in settings]
    measure = Measure.parse(MEASURE)
    choices = [Choice(*body, setting) for body in legs.telling for setting in settings]
    values = [measure_profiles(each, legs.qrels, profiles, measure) for each in legs.telling.values()]
    return choices, np.concatenate(values)


def all_server(collected: Collected, legs: Legs) -> Floats:
    """What each of the server's settings is worth: (66, queries)."""
    measure = Measure.parse(MEASURE)
    rows = [server_values(collected.queries[query], judged, measure) for query, judged in legs.qrels.items()]
    return np.stack(rows, axis=1)


def held_out(values: Floats, folds: int, seeds: int) -> Floats:
    """(choices, queries) to (queries,): each query by choices made without it, the mean over the partings."""
    found = np.zeros(values.shape[1])
    for seed in range(seeds):
        for held in in_folds(values.shape[1], folds, seed):
            train = np.delete(values, held, axis=1)
            found[held] += values[int(train.mean(axis=1).argmax()), held]
    return found / seeds


def summary(legs: Legs, folds: int, seeds: int) -> tuple[dict[str, Any], dict[str, Profile], Tuning]:
    """What was found, for JSON; the profiles to compare; and the report on the chosen body's fusion."""
    choices, values = all_choices(legs)
    best = choices[int(values.mean(axis=1).argmax())]
    collected = legs.telling[best.topic, best.criteria]
    body = telling_words(best.topic, best.criteria)
    baseline = measure_profiles(legs.plain, legs.qrels, [HYBRID], Measure.parse(MEASURE))[0]
    ours = held_out(values, folds, seeds)
    found: dict[str, Any] = {
        "measure": MEASURE,
        "queries": len(legs.qrels),
        "settings_tried": len(choices),
        "best": {**best._asdict(), "setting": best.setting._asdict()},
    }
    found["best"] |= _mean(values[choices.index(best)])
    found["heldout"] = _mean(ours)
    found["baseline"] = {"profile": HYBRID.name, **_mean(baseline)}
    found["p_value"] = randomisation_p((ours - baseline).tolist())
    profiles = {"tuned": best.profile()}
    for name, each, its_body in (("server", collected, body), ("server, plain body", legs.plain, PLAIN)):
        rows = all_server(each, legs)
        place = int(rows.mean(axis=1).argmax())
        profiles[name] = SETTINGS[place].profile(name, its_body)
        held = held_out(rows, folds, seeds)
        found[name] = {
            "setting": SETTINGS[place]._asdict(),
            **_mean(rows[place]),
            "heldout": _mean(held),
            "p_value": randomisation_p((ours - held).tolist()),
        }
    first_day = replace(HYBRID, name="this body as on the first day")
    tuning = tune(collected, legs.qrels, measure=MEASURE, baseline=first_day, folds=folds, space=SPACE)
    return found, profiles, tuning


def unlike_default(profile: Profile) -> dict[str, Any]:
    """The profile as JSON, without what every profile has unless told otherwise."""
    default = Profile().as_dict()
    return {key: value for key, value in profile.as_dict().items() if value != default[key]}


def _mean(values: Floats) -> dict[str, Any]:
    return {"mean": float(values.mean()), "ci95": list(bootstrap_ci(values.tolist()))}


def main() -> None:
    """Tune, print, and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="holds ctgov_full")
    parser.add_argument("--queries", default=QUERIES, help="JSON lines of _id and text")
    parser.add_argument("--qrels", default=QRELS, help="their judgements")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--vectors", type=Path, default=FOLDER, help="keeps vectors of earlier runs")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=20, help="ways to part the topics into folds")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where the profiles go")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    topics = read_topics(options.data, options.queries, options.qrels)
    legs = retrieve(options.data, topics, options.encoder, options.vectors)
    found, profiles, tuning = summary(legs, options.folds, options.seeds)
    if options.save:
        written = {name: unlike_default(profile) for name, profile in profiles.items()}
        options.save.write_text(json.dumps(written, indent=2) + "\n")
    if options.json:
        print(json.dumps({**found, "fusion": tuning.as_dict()}, indent=2))
        return
    console = Console()
    for table in tables(found):
        console.print(table)
    print(tuning)


if __name__ == "__main__":
    main()
