"""Seconds that many weight settings take to be scored, against ranx: nDCG@10 of each setting and query.

Both start from what the legs brought, in objects of their own (`build_s` of the table: not counted), and each
normalises by min and max, sums by the weights, ranks, and evaluates. Legs and judgements are made up
(`made_up_legs.py`). ranx takes minutes, so a round times it on `--peer-settings` of the settings, and scales
that by their number; what it does once isn't scaled. It compiles itself before, and uses all cores; ours uses
one. On the settings that both scored, means differ by no more than `AGREE`, or nothing is reported.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from made_up_legs import MadeUp, made_up
from peer import asking
from ratio import Report, summarize

from trifuse.ranker.tuning import Measure, measure_profiles
from trifuse.ranker.types import LEGS, Floats

PEER = "ranx_fusion.py"
MEASURE = Measure.parse("nDCG@10")
AGREE = 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("tune")
    group.add_argument("--settings", type=int, default=1000, help="weights of the three legs")
    group.add_argument("--tuned-queries", type=int, default=75)
    group.add_argument("--tuned-depth", type=int, default=1000, help="documents a leg")
    group.add_argument("--documents", type=int, default=7746, help="that a leg's best are taken from")
    group.add_argument("--alike", type=float, default=0.5, help="correlation of legs with relevance, 0 to 1")
    group.add_argument("--peer-settings", type=int, default=10, help="that the peer scores a round")


def measure(options: argparse.Namespace) -> Report:
    """The ratio of `tune`: settings a second."""
    data = made_up(
        options.tuned_queries, options.tuned_depth, documents=options.documents, alike=options.alike
    )
    weights = np.random.default_rng(1).dirichlet(np.ones(len(LEGS)), options.settings)
    pairs, took = [], []
    with asking(options.peer_python, PEER) as ask:
        building = ask(runs=[data.legs[leg] for leg in LEGS], qrels=data.qrels)["build_s"]
        for turn in range(options.runs + 1):
            values, ours = score(data, weights)
            theirs = _peer(ask, weights, values, turn, options.peer_settings)
            if turn:  # the first compiles the peer
                pairs.append((options.settings / ours["score_s"], options.settings / theirs))
                took.append((ours["build_s"], ours["score_s"], theirs))
    build, scored, peer = np.median(took, axis=0).tolist()
    row = {
        "settings": options.settings,
        "queries": options.tuned_queries,
        "depth": options.tuned_depth,
        "score_s": scored,
        "peer_score_s": peer,
        "build_s": build,
        "peer_build_s": building,
    }
    return Report({"tune": summarize(pairs, "settings/s")}, [row])


def score(data: MadeUp, weights: Floats) -> tuple[Floats, dict[str, float]]:
    """(settings, queries) of ours, and the seconds that objects and scoring took; all is made anew."""
    start = time.perf_counter()
    collected = data.collected()
    built = time.perf_counter()
    gc.collect()
    before = time.perf_counter()
    profiles = [data.profile(dict(zip(LEGS, row, strict=True))) for row in weights.tolist()]
    values = measure_profiles(collected, data.qrels, profiles, MEASURE)
    return values, {"build_s": built - start, "score_s": time.perf_counter() - before}


def _peer(ask: Callable[..., Any], weights: Floats, values: Floats, turn: int, settings: int) -> float:
    """Seconds that the peer takes for all settings, by the next ones in turn."""
    places = np.arange(turn * settings, (turn + 1) * settings) % len(weights)
    answer = ask(weights=weights[places].tolist())
    apart = float(np.abs(values[places].mean(axis=1) - answer["values"]).max())
    if apart > AGREE:
        sys.exit(f"the two don't do the same work: means of nDCG@10 differ by {apart:.2g}, not {AGREE:g}")
    scaled: float = answer["normalize_s"] + answer["settings_s"] * len(weights) / settings
    return scaled
