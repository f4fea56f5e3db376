"""What the click log does with simulated visitors of NFCorpus, by how often a query is asked.

    python benchmarks/simulated.py --data DIR [--sessions 25000] [--drift 0.3] [--seed 1] [--json]

Visitors (`simulator.py`) search NFCorpus (Boteva, Gholipour, Sokolov, Riezler 2016) by its training and
development queries, see BM25's best twenty documents, and click as a position-based model has it on what the
judgements call relevant. Their events go through the product's own intake. Then, by segment of the query:

- `evidence`: how well a query's own clicks order the documents that were shown, against the judgements:
  BM25's order, and each weighting of the clicks. Here position bias shows, and what correcting for it gives.
- `evidence_by_curve`: the same, with what is expected at a rank estimated from this log (`curve`).
- `heldout`: rankings of the development queries with a query's own clicks left out of the log, so that only
  clicks for other queries help; the query's frequency stays known.
- `decay`: `evidence` of the queries whose visitors' interest moved (--drift), by the half-life of clicks.
- `attack`: one visitor clicks 10,000 times on a document that isn't relevant, for a frequent query and for
  wrong spellings of it; beside it the same events without a visitor, which no cap can hold back.
- `rebuild`: whether a rebuild from the event index gives what counting gave.

It shows what the code does with a log like this, not what real users would do. OPENSEARCH_URL and REDIS_URL,
both set, name services to use; else it starts its own.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kept_encoder import kept_encoder
from nfcorpus import fresh_index, read_corpus, services, tell
from rich.console import Console
from simulated_log import SimulatedLog
from simulated_tables import attacked, by_half_life, evidence, heldout, show

from trifuse.encoder import DEFAULT_ENCODER


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Make the log, and every table that is asked for."""
    corpus = read_corpus(options.data, options.queries, options.qrels)
    with ExitStack() as stack:
        client, redis = stack.enter_context(services())
        index = stack.enter_context(fresh_index(client, redis))
        encoder = stack.enter_context(kept_encoder(options.encoder))
        log = SimulatedLog(client, redis, encoder, index, corpus)
        found: dict[str, Any] = {
            "log": log.fill(
                seed=options.seed, sessions=options.sessions, drift=options.drift, end=options.end
            )
        }
        found["rebuild"] = log.rebuilt_equals()
        tell(f"{found}")
        found["evidence"] = evidence(log)
        found["curve"] = log.learn_curve()
        found["evidence_by_curve"] = evidence(log)
        found["heldout"] = heldout(log, options.measures.split(","))
        found["decay"] = by_half_life(log, options.half_lives)
        found["attack"] = attacked(log, options.attacks)
        return found


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of NFCorpus")
    parser.add_argument("--queries", default="dev.titles.queries.tsv", help="lines of id, tab, text")
    parser.add_argument("--qrels", default="dev.2-1-0.qrel.gz", help="their judgements")
    parser.add_argument("--measures", default="nDCG@10,RR,R@10", help="names of ir-measures")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=25_000, help="of two searches in the mean")
    parser.add_argument("--drift", type=float, default=0.3, help="the share of queries whose interest moves")
    parser.add_argument("--half-lives", type=float, nargs="*", default=[10, 30, 90, 365], help="days")
    parser.add_argument("--attacks", type=int, default=10, help="queries that are attacked")
    parser.add_argument(
        "--end", type=float, default=time.time() // 86_400 * 86_400, help="of the log, seconds since 1970"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        show(Console(), found)


if __name__ == "__main__":
    main()
