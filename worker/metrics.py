"""Counters of a worker's processes, kept in one small file a process.

A file is replaced whole, so a process that is killed in the middle leaves the counters that it had before.
The files of processes that are gone still count.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoder, Encoding, Vectors
from trifuse.worker.rates import Done, with_done

Number = int | float


class Counters(msgspec.Struct):
    """What one process did.

    Args:
        pid: the process.
        sessions: encoder sessions that it made; 1 in a child of the pool, and no file at all for the parent.
        provider, space: the device in use, and the id of the encoder's space.
        calls, texts: calls of the encoder, and texts given to it; both counted before the work starts.
        truncated: texts of which the encoder saw only the beginning.
        tasks, retried: runs of the task `trifuse.embed`, and how many of them are to run again.
        embedded, failed: documents that got their vector, and that can't.
        paused_s: seconds that it waited because the cluster had no room, or searches got slow.
        lately: the documents that were done within the last minute.
    """

    pid: int
    sessions: int = 0
    provider: str = ""
    space: str = ""
    calls: int = 0
    texts: int = 0
    truncated: int = 0
    tasks: int = 0
    embedded: int = 0
    failed: int = 0
    retried: int = 0
    paused_s: float = 0.0
    lately: list[Done] = msgspec.field(default_factory=list)


_SUMMED = ("sessions", "calls", "texts", "truncated", "tasks", "embedded", "failed", "retried", "paused_s")


class Metrics:
    """This process's counters; each change is on disk when the call returns."""

    def __init__(self, folder: Path) -> None:
        pid = os.getpid()
        self._path = folder / f"{socket.gethostname()}-{pid}.json"
        # A restarted container reuses names and pids: its counters go on where they were.
        self.counters = _read(self._path) or Counters(pid=pid)

    def done(self, index: str, field: str, count: int, *, now: float | None = None) -> None:
        """Count documents that are done, for the rate; `now` in seconds since 1970."""
        at = time.time() if now is None else now
        self.counters.lately = with_done(self.counters.lately, Done(at, index, field, count))

    def add(self, **counts: Number) -> None:
        """Add to the counters of these names."""
        for name, count in counts.items():
            setattr(self.counters, name, getattr(self.counters, name) + count)
        self._write()

    def started(self, encoder: Encoder) -> None:
        """Count a session that was made."""
        self.counters.provider, self.counters.space = encoder.provider, encoder.space.id
        self.add(sessions=1)

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        partial.write_bytes(msgspec.json.encode(self.counters))
        partial.replace(self._path)


class CountedEncoder:
    """An encoder whose calls are counted."""

    def __init__(self, encoder: Encoder, metrics: Metrics) -> None:
        self._encoder = encoder
        self._metrics = metrics

    @property
    def space(self) -> EncoderSpace:
        """The space that vectors come out in."""
        return self._encoder.space

    @property
    def provider(self) -> str:
        """The device that does the work."""
        return self._encoder.provider

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """Encode what can be encoded, and say of the rest why not."""
        self._metrics.add(calls=1, texts=len(texts))
        encoding = self._encoder.encode(texts, role=role)
        truncated = int(encoding.truncated.sum())
        if truncated:
            self._metrics.add(truncated=truncated)
        return encoding

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32."""
        self._metrics.add(calls=1, texts=len(texts))
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32."""
        self._metrics.add(calls=1, texts=len(texts))
        return self._encoder.encode_documents(texts)


def read_metrics(folder: Path) -> list[Counters]:
    """The counters of every process that left some in the folder, by pid."""
    found = (_read(path) for path in folder.glob("*.json"))
    return sorted((counters for counters in found if counters is not None), key=lambda item: item.pid)


def sums(processes: Iterable[Counters]) -> dict[str, Number]:
    """Each counter, summed over processes."""
    listed = list(processes)
    return {name: sum(getattr(process, name) for process in listed) for name in _SUMMED}


def _read(path: Path) -> Counters | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Counters)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
