"""What each guarantee of the click intake costs Redis: its processor time an event, with that part left out.

    python benchmarks/intake_parts.py --pairs 1000000

The script that counts is run as it is and with parts cut out of it, in turn, on one store, beside ZINCRBY
in a pipeline for as many events. Shares of processor time are steadier than rates where others use the
machine, too. Each round counts events of new visitors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import chain

import numpy as np
from click_stores import TwoStores, own_redis
from past_clicks import PastClicks
from redis import Redis

from trifuse.worker.clicks.counting import ITEMS_AT_ONCE
from trifuse.worker.clicks.counting_script import COUNT
from trifuse.worker.clicks.packing import names_of, packed

DOCUMENTS = 3_395
_MARKS = ("-- What each visitor did on each day", "if s.marks_only", "local again, over, out = {}, {}, {}\n")
_READ = "local open = call('HMGET', KEYS[1], unpack(names))"
_KNOWN = "local open = {} for q = 1, #names do open[q] = '12' .. s.today end"


def main() -> None:
    """Print the microseconds of Redis an event, and their share of ZINCRBY's."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=100_000, help="of a query and a document, ten a query")
    parser.add_argument("--events", type=int, default=10_000, help="that a round counts")
    parser.add_argument("--runs", type=int, default=12, help="rounds; the first isn't counted")
    options = parser.parse_args()
    past = made_up(options.pairs // 10)
    with own_redis() as redis:
        names = [f"D{n}" for n in range(DOCUMENTS)]
        store = TwoStores(redis, "parts", past, names, events=options.events, batch=ITEMS_AT_ONCE)
        store.fill()
        for way, (took, share) in measured(redis, store, options.runs).items():
            print(f"{way:32} {took:6.2f} us  {share:5.2f} of ZINCRBY")


def made_up(queries: int) -> PastClicks:
    """Past queries without vectors, each with ten documents."""
    first = np.random.default_rng(0).integers(DOCUMENTS, size=(queries, 1))
    return PastClicks(np.zeros((queries, 1), np.float32), (first + 37 * np.arange(10)) % DOCUMENTS)


def scripts() -> dict[str, str]:
    """The script as it is, and without parts of it."""
    start, end = COUNT.index(_MARKS[0]), COUNT.index(_MARKS[1])
    unmarked = COUNT[:start] + _MARKS[2] + COUNT[end:]
    return {
        "all": COUNT,
        "without marks and caps": unmarked,
        "without clicks of queries": _uncounted(COUNT),
        "without both": _uncounted(unmarked),
        "without records": _cut(COUNT, "call('APPEND', key, add)", "200"),
    }


def measured(redis: Redis, store: TwoStores, runs: int) -> Mapping[str, tuple[float, float]]:
    """Of each way the median of its microseconds an event, and of its shares of ZINCRBY's."""
    ways: dict[str, Callable[[], Callable[[], object]]] = {
        way: lambda script=script: _counting(redis, store, script) for way, script in scripts().items()
    }
    ways["names of documents"] = lambda: _naming(redis, store)
    ways["ZINCRBY"] = lambda: store.increment
    took: dict[str, list[float]] = {way: [] for way in ways}
    for run in range(runs + 1):
        for way in sorted(ways, reverse=bool(run % 2)):
            work = ways[way]()
            before = _processor(redis)
            work()
            took[way].append((_processor(redis) - before) / store.events * 1e6)
    peer = np.array(took["ZINCRBY"][1:])
    return {
        way: (float(np.median(each[1:])), float(np.median(np.array(each[1:]) / peer)))
        for way, each in took.items()
    }


def _uncounted(script: str) -> str:
    return _cut(_cut(script, _READ, _KNOWN), "write(KEYS[1], public)", "")


def _cut(script: str, what: str, instead: str) -> str:
    if what not in script:
        raise SystemExit(f"the script that counts has no {what!r} any more: this benchmark has to follow it")
    return script.replace(what, instead)


def _counting(redis: Redis, store: TwoStores, script: str) -> Callable[[], object]:
    counter, run = store.counter, redis.register_script(script)
    batches = [packed(items) for items in store.batches()]
    calls = [(counter._keys(batch), counter._args(batch)) for batch in batches]
    return lambda: [run(keys=keys, args=args) for keys, args in calls]


def _naming(redis: Redis, store: TwoStores) -> Callable[[], object]:
    names = [list(chain.from_iterable(names_of(items).items())) for items in store.batches()]
    return lambda: [redis.execute_command("HSET", "names", *each) for each in names]


def _processor(redis: Redis) -> float:
    used = redis.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


if __name__ == "__main__":
    main()
