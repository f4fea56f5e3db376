"""Documents a second of a whole load against the encoder alone: the default encoder, same texts, same cores.

A round of ours makes a fresh index, and lasts from before the first record is read until the worker has
written the last vector: reading, preparing, bulk writes, hints, Celery, the worker's reads and writes. The
loader, OpenSearch and Redis have no cores of their own: what they take, the encoder lacks.

A round of the peer gives the same texts to the same encoder in processes of the same number and with the same
threads as the worker's, in batches so small that these end together: nothing encodes them faster here.

The services are those of OPENSEARCH_URL and REDIS_URL where both are set, else started for this; the worker
always is, on a broker of its own. A server that has just started is slow until its code is compiled: so all
trials are loaded with random vectors, and some rounds are run, before any counts.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Self

from load_pipeline import running_pipeline
from ratio import Report, paired_ratio

from trifuse.encoder.registry import DEFAULT_ENCODER, load_encoder
from trifuse.encoder.templates import build_text
from trifuse.encoder.types import Encoder
from trifuse.indexer.readers import Record, read_trials
from trifuse.indexer.trial import TRIAL_TEMPLATE

ROOT = Path(__file__).parent.parent
ALONE_BATCH = 16
PAUSE_S = 0.5
"""Between two measurements: what OpenSearch still does in the background shouldn't slow the next one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("load")
    group.add_argument("--limit", type=int, default=512, help="trials a round loads, drawn from all")
    group.add_argument("--trials", type=Path, help="a trial a line (default: those of TRIFUSE_DATA)")
    group.add_argument(
        "--processes",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="of the worker, which share the cores (default: one a core)",
    )
    group.add_argument("--warm-up", type=int, default=3, help="rounds of ours before those that count")


def measure(options: argparse.Namespace) -> Report:
    """The ratio of `load`."""
    data = Path(os.environ.get("TRIFUSE_DATA", ROOT / "../shared/data"))
    source = options.trials or data / "ctgov_full" / "trials.jsonl.gz"
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="trifuse-speed-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)  # the server doesn't run as root
        trials = _sample(source, options.limit, folder / "trials.jsonl")
        texts = _texts(trials)
        alone = stack.enter_context(_Alone(options.processes))
        whole = stack.enter_context(running_pipeline(folder, options.processes))

        def ours() -> float:
            return _rate("load", len(texts), lambda: whole.run(trials, len(texts)))

        def peer() -> float:
            return _rate("encoder alone", len(texts), lambda: alone.run(texts))

        whole.warm_up(source)
        for _ in range(options.warm_up):
            ours()
        return Report({"load": paired_ratio(ours, peer, options.runs)})


def _rate(name: str, texts: int, run: Callable[[], float]) -> float:
    time.sleep(PAUSE_S)
    rate = texts / run()
    print(f"{name}: {rate:.1f}/s", file=sys.stderr, flush=True)
    return rate


def _sample(path: Path, limit: int, target: Path) -> Path:
    """A file of some of the trials: the same ones every time."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = content.splitlines()
    if len(lines) < limit:
        sys.exit(f"{path} has {len(lines)} trials, expected {limit} or more: lower --limit")
    target.write_bytes(b"".join(line + b"\n" for line in random.Random(7).sample(lines, limit)))
    return target


def _texts(trials: Path) -> list[str]:
    """What the workers will encode."""
    sources = [item.trial.source() for item in read_trials([trials]) if isinstance(item, Record)]
    return [text for source in sources if (text := build_text(source, TRIAL_TEMPLATE))]


@cache
def _encoder(threads: int) -> Encoder:
    return load_encoder(DEFAULT_ENCODER, threads=threads)


def _encode(threads: int, texts: Sequence[str]) -> None:
    _encoder(threads).encode(texts, role=TRIAL_TEMPLATE.role)


class _Alone:
    """Processes as the worker has them, which do nothing but encode."""

    def __init__(self, processes: int) -> None:
        threads = max(1, len(os.sched_getaffinity(0)) // processes)
        self._encode = partial(_encode, threads)
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def run(self, texts: Sequence[str]) -> float:
        """Seconds for all texts, in batches so small that the processes end together."""
        batches = [texts[start : start + ALONE_BATCH] for start in range(0, len(texts), ALONE_BATCH)]
        start = time.perf_counter()
        list(self._pool.map(self._encode, batches))
        return time.perf_counter() - start
