"""`trifuse sync --watch`: how an endless upkeep is shown, and how it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import msgspec
from opensearchpy import OpenSearch

from trifuse.deploy.cli.common import err, out, say, terminable
from trifuse.encoder.spaces import Space
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.watch import watch
from trifuse.indexer.watched import Watched


def keep_watch(
    client: OpenSearch,
    index: str,
    enqueue: Enqueue,
    *,
    interval_s: float,
    listening: Callable[[Space], bool],
    as_json: bool,
) -> None:
    """Watch until SIGINT or SIGTERM, then say what was done."""
    latest: Watched | None = None
    with _shown(as_json=as_json) as show:

        def progress(seen: Watched) -> None:
            nonlocal latest
            latest = seen
            show(seen)

        with terminable(), suppress(KeyboardInterrupt):
            watch(
                client,
                index,
                enqueue,
                stop=threading.Event(),
                interval_s=interval_s,
                listening=listening,
                progress=progress,
                say=lambda text: say(text, "yellow"),
            )
    if latest is not None and not as_json:
        out.print(f"watched {index}: {line_of(latest)}", markup=False, soft_wrap=True)


def line_of(seen: Watched) -> str:
    """What was seen, in one line.

    >>> line_of(Watched(seen=1200, queued=3, pending=1, embedded=2, skipped=0, failed=0,
    ...                 lag_operations=4, lag_s=1.5, indexes=("trials",)))
    'seen 1,200, queued 3, pending 1, embedded 2, skipped 0, failed 0, behind by 4 operations and 1.5 s'
    """
    return f"{_counts_of(seen)}, behind by {seen.lag_operations:,} operations and {seen.lag_s:.1f} s"


def _counts_of(seen: Watched) -> str:
    names = ("seen", "queued", "pending", "embedded", "skipped", "failed")
    return ", ".join(f"{name} {getattr(seen, name):,}" for name in names)


@contextmanager
def _shown(*, as_json: bool) -> Iterator[Callable[[Watched], None]]:
    """JSON lines on stdout; else a live line on a terminal, or a line in a log where something changed."""
    if as_json:
        yield _write
    elif err.is_terminal:
        with err.status("looking for what is pending") as status:
            yield lambda seen: status.update(line_of(seen))
    else:
        yield _Log().show


def _write(seen: Watched) -> None:
    line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), **msgspec.to_builtins(seen)}
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()


class _Log:
    """Writes a line where other counts than in the last one are to be told."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, seen: Watched) -> None:
        counts = _counts_of(seen)
        if counts != self._last:
            self._last = counts
            err.print(line_of(seen), markup=False, soft_wrap=True)
