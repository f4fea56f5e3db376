"""Vectors for an index that another writer made, killed twice on the way, with the memory of who does it.

    python benchmarks/backfill.py --data DATA [--limit 300] [--json]

writes the trials of `ctgov_full` and `ctgov_csv` (titles and conditions) into a new index by dynamic mapping,
runs `trifuse attach`, and then `trifuse sync --wait` with a worker of two processes. At a third and at two
thirds both the sync and the worker are killed (SIGKILL) and started again. Printed are documents a second,
the texts that were encoded in total, and the resident memory of the sync and of the worker's processes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from backfill_memory import Curve, Watched
from opensearchpy import OpenSearch

from trifuse.deploy.local.processes import Process, start, stop
from trifuse.deploy.local.stack import LocalServices
from trifuse.deploy.local.workers import start_worker
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.counts import Counts, count_field
from trifuse.indexer.embedded import embedded_fields
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

FILES = ("ctgov_full/trials.jsonl.gz", "ctgov_csv/trials.jsonl.gz")
INDEX = "backfill"
PROCESSES = 2
POLL_S = 1.0
MAIN = "from trifuse.deploy.cli.app import main; main()"


@dataclass(frozen=True)
class Backfilled:
    """What a backfill came to.

    Args:
        documents: in the index; `current` have their vector, `empty` no text, `failed` a reason.
        texts: that were given to the encoder, over all processes.
        kills: how often sync and worker were killed.
        seconds: of all syncs together, without the starts of the worker.
        documents_per_s: over these.
        memory: the sync's and the worker's.
    """

    documents: int
    current: int
    empty: int
    failed: int
    texts: int
    kills: int
    seconds: float
    documents_per_s: float
    memory: dict[str, Curve]


def sources(data: Path) -> Iterator[dict[str, Any]]:
    """Title and conditions of each trial, and its id."""
    for record in chain.from_iterable(_records(data / name) for name in FILES):
        yield {
            "nct_id": record["nct_id"],
            "title": record.get("brief_title"),
            "conditions": record.get("conditions"),
        }


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class Backfill:
    """One index, the commands and the worker that embed it."""

    def __init__(self, services: LocalServices, folder: Path, encoder: str) -> None:
        self._folder = folder
        self.client = OpenSearch(services.opensearch_url, timeout=60)
        self._settings = Settings(
            opensearch_url=services.opensearch_url,
            redis_url=services.redis_url,
            broker_url=services.redis_url,
            encoder=encoder,
            metrics_dir=str(folder / "metrics"),
        )
        self._environ = {
            "OPENSEARCH_URL": services.opensearch_url,
            "REDIS_URL": services.redis_url,
            "TRIFUSE_BROKER_URL": services.redis_url,
            "TRIFUSE_ENCODER": encoder,
            "TRIFUSE_METRICS_DIR": str(folder / "metrics"),
        }
        self.watched = Watched()

    def write(self, documents: Iterator[dict[str, Any]]) -> int:
        """Write the documents as somebody does who knows nothing of vectors."""
        self.client.indices.create(index=INDEX, body={"settings": {"index": {"knn": True}}})
        actions = (Action(op="index", index=INDEX, id=item["nct_id"], source=item) for item in documents)
        failed = bulk(self.client, actions, refresh=True).failed
        if failed:
            raise SystemExit(f"{len(failed)} documents were refused: {failed[0].reason}")
        return int(self.client.count(index=INDEX)["count"])

    def counted(self) -> Counts:
        """How many documents have their vector, as of the last refresh."""
        (target,) = embedded_fields(self.client, INDEX)
        return count_field(self.client, target)

    @property
    def texts(self) -> int:
        """Texts that were given to the encoder."""
        return sums(read_metrics(self._folder / "metrics"))["texts"]

    def command(self, *arguments: str) -> Process:
        """Start a command of `trifuse`."""
        return start(
            [sys.executable, "-c", MAIN, *arguments],
            log=self._folder / "commands.log",
            environ=os.environ | self._environ,
            folder=self._folder,
        )

    def attach(self) -> None:
        """`trifuse attach`, and wait for its end."""
        process = self.command("attach", INDEX, "--text", "title,conditions", "--accept-version-bump")
        while process.alive():
            time.sleep(0.1)

    def sync_until(self, goal: int | None) -> float:
        """A worker and `trifuse sync --wait`, killed when `goal` documents are done; seconds that it took."""
        worker = start_worker(
            self._folder / "workers",
            settings=self._settings,
            concurrency=PROCESSES,
            environ=self._environ,
        )
        began = time.monotonic()
        sync = self.command("sync", INDEX, "--wait")
        try:
            while sync.alive():
                done = self.counted()
                pool = [item.pid for item in read_metrics(self._folder / "metrics")]
                self.watched.look(done.documents - done.pending, sync=[sync.pid], worker=pool)
                if goal is not None and done.documents - done.pending >= goal:
                    break
                time.sleep(POLL_S)
        finally:
            took = time.monotonic() - began
            stop(sync, force=True)
            stop(worker.process, force=True)
        return took


def backfill(data: Path, *, encoder: str, limit: int | None) -> Backfilled:
    """Run it, in a folder of its own that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="trifuse-backfill-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # OpenSearch doesn't run as root
        with LocalServices(folder / "services") as services:
            run = Backfill(services, folder, encoder)
            documents = run.write(islice(sources(data), limit))
            run.attach()
            seconds = sum(run.sync_until(goal) for goal in (documents // 3, 2 * documents // 3, None))
            run.client.indices.refresh(index=INDEX)
            done = run.counted()
            return Backfilled(
                documents=documents,
                current=done.current,
                empty=done.empty,
                failed=done.failed,
                texts=run.texts,
                kills=2,
                seconds=round(seconds, 1),
                documents_per_s=round(documents / seconds, 1),
                memory=run.watched.curves(),
            )


def main() -> None:
    """Run the backfill, and say what it came to; status 1 where a document has no vector and no reason."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="the folder that holds ctgov_full and ctgov_csv"
    )
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--limit", type=int, help="so many trials")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    found = backfill(options.data, encoder=options.encoder, limit=options.limit)
    if options.json:
        print(json.dumps(asdict(found), indent=2))
    else:
        print(
            f"{found.documents:,} documents: {found.current:,} with their vector, {found.empty:,} without "
            f"text, {found.failed:,} failed; {found.texts:,} texts encoded, {found.kills} kills of both; "
            f"{found.seconds:,.0f} s, {found.documents_per_s} documents/s"
        )
        for who, curve in found.memory.items():
            print(f"{who}: {curve}")
    if found.current + found.empty + found.failed != found.documents:
        sys.exit(1)


if __name__ == "__main__":
    main()
