"""Choose how the ranker reads NFCorpus's pseudo log, by cross-validation on its training queries alone.

    python benchmarks/nfcorpus_tune.py --data DIR [--save PROFILE.json] [--visits N]

The queries of a fold are asked; the other folds are the log, less what has the same normal form. A setting is
judged by the mean of its nDCG@10 with the whole of that log and with parts of it (`SHARES`), because a log
grows: a setting that needs a large one harms while it is young. The evaluation's queries and judgements are
never read. With --visits the log is what so many simulated visitors clicked (simulator.py), noise included,
and the settings are judged by the same judgements. Lexical hits come from OpenSearch, as the ranker gets
them; the rest is computed here. OPENSEARCH_URL and REDIS_URL, both set, name services to use; else it starts
its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kept_encoder import kept_encoder
from log_tuning import Setting, grid
from nfcorpus_data import DOCUMENTS, LOG_QRELS, LOG_QUERIES, nfcorpus_folder, parted
from nfcorpus_index import fresh_index, services
from nfcorpus_legs import DEPTH, lexical_hits
from nfcorpus_tuned import SHARES, summary, tune
from nfcorpus_visits import simulated_counts
from rich.console import Console
from rich.table import Table

from trifuse.encoder import DEFAULT_ENCODER
from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.evaluation import read_judgements, read_queries

NO_DOUBT = -100.0
GRID: Mapping[str, tuple[float, ...]] = {
    "m": (50, 100, 200),
    "temperature": (0.04, 0.05, 0.06),
    "support": (0.0, 1.0, 1.5, 2.0),
    "doubt": (NO_DOUBT, 0.8, 0.85, 0.9),
    "weight": (3.0, 5.0, 8.0),
}


def profile_of(setting: Setting, scale: float = 1.0) -> Profile:
    """The profile that serves a setting, whose similarities were divided by `scale`."""
    return Profile(
        name="nfcorpus",
        weights={"lexical": 0.5, "dense": 0.5, "clicks": setting.weight},
        normalization={"lexical": "min_max", "dense": "min_max", "clicks": "none"},
        depth=DEPTH,
        clicks=ClickSettings(
            m=int(setting.m),
            temperature=setting.temperature * scale,
            min_similarity=NO_DOUBT,
            support=setting.support * scale,
            doubt=setting.doubt * scale,
        ),
    )


def tables(found: Mapping[str, Any]) -> Iterator[Table]:
    """What people read of a summary."""
    means = Table(title=f"nDCG@10 of {found['queries']} training queries", title_justify="left")
    for column in ("", "mean", "95 %"):
        means.add_column(column)
    for name, label in (("hybrid", "without the log"), ("heldout", "with it, held out"), ("gain", "gain")):
        low, high = found[name]["ci95"]
        means.add_row(label, f"{found[name]['mean']:.4f}", f"{low:.4f} to {high:.4f}")
    yield means
    around = Table(title="one choice changed at a time, by share of the log", title_justify="left")
    for column in ("", "", *(f"{share:.0%}" for share in SHARES)):
        around.add_column(column)
    for name, values in found["around"].items():
        for value, row in values.items():
            chosen = "*" if float(value) == found["best"][name] else ""
            around.add_row(name, f"{value}{chosen}", *(f"{mean:.4f}" for mean in row))
        around.add_section()
    yield around


def main() -> None:
    """Tune, print, and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of NFCorpus")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7, help="of the folds and of the parts of the log")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where the profile goes")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument("--visits", type=int, help="so many simulated visits are the log, not judgements")
    parser.add_argument("--only", type=Path, help="ask these queries alone (a file as the queries')")
    parser.add_argument("--parted", action="store_true", help="embed title [SEP] abstract: trained towers")
    options = parser.parse_args()
    folder = nfcorpus_folder(options.data)
    documents, queries = read_queries(folder / DOCUMENTS), read_queries(folder / LOG_QUERIES)
    judgements = read_judgements(folder / LOG_QRELS)
    with services() as (client, redis), fresh_index(client, redis) as index:
        lexical = lexical_hits(client, index, documents, queries)
    counts = None
    if options.visits:
        names = list(documents)
        pages = {q: [names[place] for place, _ in hits] for q, hits in zip(queries, lexical, strict=True)}
        counts = simulated_counts(queries, judgements, pages, visits=options.visits, seed=options.seed)
    with kept_encoder(options.encoder) as encoder:
        tuned = tune(
            parted(documents) if options.parted else documents,
            queries,
            judgements,
            lexical,
            encoder,
            grid(**GRID),
            folds=options.folds,
            seed=options.seed,
            counts=counts,
            only=read_queries(options.only) if options.only else None,
        )
    found = summary(tuned)
    if options.save:
        profile = profile_of(Setting(**found["best"]), found["scale"])
        options.save.write_text(json.dumps(profile.as_dict(), indent=2) + "\n")
    if options.json:
        print(json.dumps(found, indent=2))
        return
    console = Console()
    for table in tables(found):
        console.print(table)
    print(f"chosen: {found['best']}")


if __name__ == "__main__":
    main()
