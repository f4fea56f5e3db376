"""Copying an index: how fast it is beside OpenSearch's own `_reindex`, and the memory of who copies.

    python benchmarks/copying.py [--documents 200000] [--rounds 5] [--json]

with OPENSEARCH_URL naming a server that runs already, or else on one of its own with 4 GB of heap. It makes
an index of one shard with so many small documents, seeded, and copies it into an index of the same settings
in turn by `catch_up`, which fills the copies of `attach --copy` and `reembed`, and by `_reindex`, until the
copy is refreshed; who goes first alternates, and the first pair warms up and isn't counted. Each copy must
have every document. Printed are documents a second of both, their ratio, and the resident memory of this
process over the documents that were copied, round by round.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from backfill_memory import Curve, Watched
from opensearchpy import OpenSearch
from ratio import Ratio, in_turn, summarize

from trifuse.deploy.local.stack import LocalServices
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.copying import abandon, begin, catch_up
from trifuse.indexer.copying.copies import Copy

INDEX = "benchmark-copying"
SPACE = Space(EncoderSpace("tiny", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
BODY = {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"},
    "mappings": {
        "properties": {
            "title": {"type": "text"},
            "summary": {"type": "text"},
            "kind": {"type": "keyword"},
            "n": {"type": "integer"},
        }
    },
}
WORDS = 20_000
POLL_S = 0.05


@dataclass(frozen=True)
class Copied:
    """What was found.

    Args:
        documents: that were copied each time.
        speed: documents a second, ours against `_reindex`.
        memory: of this process in each counted round of ours.
    """

    documents: int
    speed: Ratio
    memory: list[Curve]


def made_up(count: int) -> Iterator[dict[str, object]]:
    """Documents of about 450 bytes: a title of 8 words, a summary of 50, few words of which are frequent."""
    drawn = random.Random(7)
    words = [
        "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(3, 10))) for _ in range(WORDS)
    ]

    def text(length: int) -> str:
        return " ".join(words[min(int(drawn.paretovariate(0.7)), WORDS - 1)] for _ in range(length))

    for number in range(count):
        yield {"title": text(8), "summary": text(50), "kind": drawn.choice("abcd"), "n": number}


def write(client: OpenSearch, count: int) -> None:
    """Make the index anew, with so many documents."""
    client.indices.delete(index=INDEX, params={"ignore_unavailable": "true"})
    client.indices.create(index=INDEX, body=BODY)
    batch: list[Action] = []
    for number, source in enumerate(made_up(count)):
        batch.append(Action(op="index", index=INDEX, id=f"d{number:07}", source=source))
        if len(batch) == 5_000 or number == count - 1:
            failed = bulk(client, batch).failed
            if failed:
                raise SystemExit(f"{len(failed)} documents were refused: {failed[0].reason}")
            batch.clear()
    client.indices.refresh(index=INDEX)


class Race:
    """Copies the same index in two ways."""

    def __init__(self, client: OpenSearch, count: int) -> None:
        self._client = client
        self._count = count
        self.memory: list[Curve] = []

    def ours(self) -> float:
        """Documents a second of `catch_up`."""
        copy, watched = self._begin(), Watched()
        started = time.perf_counter()
        catch_up(self._client, copy, progress=lambda step: watched.look(step.done, copying=[os.getpid()]))
        rate = self._count / (time.perf_counter() - started)
        self.memory.append(watched.curves()["copying"])
        self._end(copy)
        return rate

    def peer(self) -> float:
        """Documents a second of `_reindex`."""
        copy = self._begin()
        body = {"source": {"index": INDEX}, "dest": {"index": copy.index}}
        started = time.perf_counter()
        # As a task: waited for, its answer has a header for each page, and clients take a hundred.
        task = self._client.reindex(body=body, params={"wait_for_completion": "false"})["task"]
        while not self._client.tasks.get(task_id=task)["completed"]:
            time.sleep(POLL_S)
        self._client.indices.refresh(index=copy.index)
        rate = self._count / (time.perf_counter() - started)
        self._end(copy)
        return rate

    def _begin(self) -> Copy:
        return begin(self._client, INDEX, alias=f"{INDEX}-live", space_field=(VECTOR_FIELD, SPACE))

    def _end(self, copy: Copy) -> None:
        found = int(self._client.count(index=copy.index)["count"])
        abandon(self._client, copy.index)
        if found != self._count:
            raise SystemExit(f"{found:,} of {self._count:,} documents were copied")


def measure(client: OpenSearch, documents: int, rounds: int) -> Copied:
    """Copy in turn, once more than is counted."""
    write(client, documents)
    race = Race(client, documents)
    pairs = []
    for number, (own, theirs) in enumerate(in_turn(race.ours, race.peer, rounds + 1)):
        pairs.append((own, theirs))
        print(f"round {number}: {own / theirs:.2f} of _reindex", file=sys.stderr)
    client.indices.delete(index=INDEX)
    return Copied(documents, summarize(pairs[1:]), race.memory[1:])


def _print(found: Copied) -> None:
    speed, (low, high) = found.speed, found.speed.ci95
    print(f"{speed.ratio:.2f} ({low:.2f} to {high:.2f}) of _reindex's documents a second")
    print(f"{speed.ours:,.0f} and {speed.peer:,.0f} documents a second")
    for number, curve in enumerate(found.memory, 1):
        flat = f"{min(curve.mib):.0f} to {curve.peak_mib:.0f} MiB"
        print(f"round {number}: {flat}, {curve.slope_mib_per_1000:+.3f} MiB a thousand documents")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5, help="of both, counted (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with ExitStack() as stack:
        url = os.environ.get("OPENSEARCH_URL")
        if not url:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trifuse-copying-")))
            folder.chmod(0o755)
            url = stack.enter_context(LocalServices(folder, heap="4g")).opensearch_url
        client = stack.enter_context(OpenSearch(url, timeout=3600))
        found = measure(client, given.documents, given.rounds)
    if given.json:
        print(json.dumps(asdict(found)))
    else:
        _print(found)


if __name__ == "__main__":
    main()
