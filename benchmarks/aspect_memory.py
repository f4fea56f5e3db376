"""What adapters cost a process that has many: `python benchmarks/aspect_memory.py [--adapter NAME] [--json]`.

One adapter is copied so often, and each copy loaded beside the first: resident memory before, with the first
one (the base's weights), with all of them, and once each has encoded queries.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from memory import rss_mib

from trifuse.encoder.adapter_files import DEFAULT_ADAPTER, find_adapter
from trifuse.encoder.adapters import AspectEncoder, load_adapter

QUERY = "Effect of early mobilisation on pain after hip replacement: a randomised controlled trial"


@dataclass(frozen=True)
class Memory:
    """Resident memory of one process, in MiB, and what an adapter adds.

    Args:
        adapters: how many were loaded.
        file_mib: of one adapter's updates.
        empty: before anything is loaded.
        one, all: with one adapter, with all of them.
        used: when each has encoded queries for all its aspects.
        each: what an adapter adds once it is used.
        load_ms: what it takes to load another one, the mean.
    """

    adapters: int
    file_mib: float
    empty: float
    one: float
    all: float
    used: float
    each: float
    load_ms: float


def measure(name: str, count: int) -> Memory:
    """Load so many copies of an adapter, and use each."""
    source = find_adapter(name)
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(shutil.copytree(source.path, Path(folder) / str(number))) for number in range(count)]
        empty = rss_mib()
        loaded = [load_adapter(str(copies[0]), threads=1)]
        _use(loaded[0])
        one = rss_mib()
        began = time.perf_counter()
        loaded += [load_adapter(str(copy), threads=1, beside=loaded[0]) for copy in copies[1:]]
        spent = time.perf_counter() - began
        with_all = rss_mib()
        for encoder in loaded:
            _use(encoder)
        used = rss_mib()
        size = sum((source.path / file).stat().st_size for file in source.description.files)
    return Memory(
        adapters=count,
        file_mib=round(size / (1 << 20), 2),
        empty=round(empty, 1),
        one=round(one, 1),
        all=round(with_all, 1),
        used=round(used, 1),
        each=round((used - one) / max(1, count - 1), 2),
        load_ms=round(1000 * spent / max(1, count - 1), 1),
    )


def _use(encoder: AspectEncoder) -> None:
    for aspect in encoder.aspects:
        encoder.encode_queries([QUERY], aspect)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--adapter", default=DEFAULT_ADAPTER, help="a name, or a folder")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.adapter, given.count)
    if given.json:
        json.dump(asdict(found), sys.stdout, indent=1)
        print()
        return
    print(
        f"{found.adapters} adapters of {found.file_mib} MiB: {found.empty:.0f} MiB before, "
        f"{found.one:.0f} with one, {found.all:.0f} with all, {found.used:.0f} when all were used: "
        f"{found.each} MiB each, {found.load_ms} ms to load one"
    )


if __name__ == "__main__":
    main()
