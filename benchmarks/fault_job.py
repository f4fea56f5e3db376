"""A job that a fault meets in the middle: how it starts, when the fault comes, what must hold at the end."""

from __future__ import annotations

import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Protocol

from fault_checks import Broken, check_documents, demand, read, served
from fault_cli import TWICE
from fault_commands import Ended, trifuse
from fault_documents import UNREADABLE, Documents, tiny_encoder, write_file
from fault_searches import Searches, searcher
from fault_stack import SLOW_S, Stack

from trifuse.encoder.registry import DEFAULT_ENCODER, load_encoder
from trifuse.indexer.sync import sync
from trifuse.worker.enqueue import BATCH, celery_enqueue

RUNS = 6
"""How often a command is run again that a fault ended."""

WITHIN_S = 240.0
MORE = 40
"""Documents of a load that runs meanwhile."""


class Job(Protocol):
    """What a cell runs."""

    encoders: tuple[str, ...]

    def start(self, *, twice: bool) -> None:
        """Begin in the background; `twice` delivers each message two times."""

    def half_done(self) -> bool:
        """Whether it is the moment for the fault."""

    def finish(self) -> str:
        """Wait for the end and check it; what was found, in words. Raises Broken."""


class DocumentsJob(ABC):
    """Documents get their vectors by commands; subclasses say which.

    `part` is when the fault comes: that part of the texts was given to the encoder. `running` is the command
    that runs, `struck` the one that did when the fault came.

    Args:
        number: documents.
        real: use the default encoder in place of a tiny one.
        away: whether the fault takes OpenSearch away.
        full_disk: the job's own commands can't write files.
        recount: whether texts may be encoded again beyond a batch for each killed process.
    """

    part = 3

    def __init__(
        self,
        stack: Stack,
        number: int,
        *,
        real: bool = False,
        away: bool = False,
        full_disk: bool = False,
        recount: bool = False,
    ) -> None:
        self.stack = stack
        self.index = f"faults-{time.monotonic_ns()}"
        self.name = self.index
        self.documents = Documents(number, unreadable=0 if real else UNREADABLE)
        self.full_disk = full_disk
        self.encoder = DEFAULT_ENCODER if real else tiny_encoder(stack.folder, "tiny-one", 16)
        self.encoders: tuple[str, ...] = (self.encoder,)
        self.routing: dict[str, str] = {}
        self.over = threading.Event()
        self.runs: list[Ended] = []
        self._processes: list[subprocess.Popen[str]] = []
        self.running = self.struck = ""
        self._away, self._recount, self._number = away, recount, number
        self._environ: dict[str, str] = {}
        self._resources = ExitStack()

    @abstractmethod
    def prepare(self) -> None:
        """Make what the job starts from."""

    @abstractmethod
    def commands(self) -> None:
        """Run the job's commands."""

    def searches(self) -> Searches:
        """What searches meanwhile."""
        ranker = searcher(self.stack.client, [load_encoder(self.encoder)])
        return Searches(ranker, self.name, away=self._away)

    def start(self, *, twice: bool) -> None:
        """Begin, with searches beside it."""
        self._environ = {**self.stack.environ, **({TWICE: "1"} if twice else {})}
        self._recount |= twice
        self.prepare()
        self._searches = self.searches()
        self._resources.enter_context(self._searches.running())
        pool = self._resources.enter_context(ThreadPoolExecutor(1))
        self._running = pool.submit(self.commands)

    def half_done(self) -> bool:
        """Whether enough of the texts was given to the encoder."""
        if self._running.done():
            self._running.result()
            raise Broken("the job ended before the fault came")
        if self.stack.counted("texts") < self._number // self.part:
            return False
        self.struck = self.running
        return True

    def edit(self) -> None:
        """Have the owner edit documents."""
        self.documents.edit(self.stack.client, self.name, self.routing, self._searches.changed)

    def kill_command(self) -> None:
        """Kill (SIGKILL) the command that runs."""
        self._processes[-1].kill()

    def load_meanwhile(self) -> None:
        """A load whose dead-letter file can't be written runs into the index, then one that has room."""
        more, path = self.documents.more(MORE), self.stack.folder / f"{self.index}-more.jsonl"
        write_file(path, more.values())
        self._searches.changed |= more.keys()
        report, new = str(path.with_suffix(".report.json")), self.encoders[-1]
        command = ("load", str(path), "--index", self.name, "--encoder", new, "--report", report)
        ended = self.run(*command, full_disk=True)
        demand(ended.status == 1 and ended.result is None, f"a full disk went unnoticed: {ended}")
        for _ in range(RUNS):
            ended = self.run(*command)
            if ended.result is not None:
                self.documents.expected.update(more)
                self.documents.edits += len(more)
                return
            if "template" in ended.said:
                return  # another template than a load's: refused, nothing was written
            time.sleep(1)
        raise Broken(f"a load meanwhile never ended well: {ended.said}")

    def finish(self) -> str:
        """Every document has its vector or its reason, and nothing was done in vain."""
        self.over.set()
        self.stack.proxy.slow_s = SLOW_S
        try:
            self._running.result(timeout=WITHIN_S)
        finally:
            self._resources.close()
        client = self.stack.client
        target = served(client, self.name, self.encoders[-1])
        embedded = check_documents(client, target, self.documents, self.encoders[-1])
        self.check_end()
        demand(not self._searches.faults, "; ".join(dict.fromkeys(self._searches.faults[:3])))
        demand(self._searches.seen["answered"] > 0, "no search was answered")
        texts = self.stack.counted("texts")
        again = BATCH * (self.stack.killed + self.stack.interrupted)
        most = len(self.documents.expected) + 2 * self.documents.edits + again
        demand(self._recount or texts <= most, f"{texts} texts were encoded, {most} at most may be")
        before = {hit["_id"]: hit["_version"] for hit in read(client, target.index)}
        report = sync(client, self.name, celery_enqueue(self.stack.app), wait=True)
        demand((report.embedded, report.pending) == (0, 0), f"a second sync found work: {report}")
        after = {hit["_id"]: hit["_version"] for hit in read(client, target.index)}
        demand(after == before, "a second sync wrote documents")
        return self._told(embedded, texts)

    @abstractmethod
    def check_end(self) -> None:
        """What else must hold."""

    def _told(self, embedded: int, texts: int) -> str:
        seen = self._searches.seen
        parts = [f"{embedded} vectors, {texts} texts encoded"]
        if self.documents.unreadable:
            parts.append(f"{len(self.documents.unreadable)} failed with their reason")
        if self.stack.killed:
            parts.append(f"{self.stack.killed} processes killed")
        if self.stack.proxy.refused:
            parts.append(f"{self.stack.proxy.refused} answers 429")
        if self.documents.edits:
            parts.append(f"{self.documents.edits} edits")
        parts.append(
            f"{seen['answered']} searches"
            + (f", {seen['unavailable']} unavailable" if seen["unavailable"] else "")
        )
        if seen["space 2"]:
            parts.append(f"{seen['space 1']} by the old vectors, {seen['space 2']} by the new")
        if self.struck:
            parts.append(f"struck during `{self.struck}`")
        ended = [
            f"`{run.command}` again, which had said: {run.said[:160] or 'nothing'}"
            for run in self.runs
            if run.result is None
        ]
        parts += ended[:1]
        return "; ".join(parts)

    def run(self, *arguments: str, full_disk: bool = False) -> Ended:
        """Run a command, once."""
        ended = trifuse(
            *arguments,
            environ=self._environ,
            folder=self.stack.folder,
            started=self._processes.append,
            full_disk=full_disk,
        )
        demand(not ended.traceback, f"`trifuse {arguments[0]}` ended with a traceback: {ended.said}")
        self.runs.append(ended)
        return ended

    def insist(
        self, *arguments: str, done: Callable[[dict[str, Any]], bool] = lambda result: True
    ) -> dict[str, Any]:
        """Run a command until it ends with its result, as its message says; the last time after the fault."""
        self.running = arguments[0]
        for _ in range(RUNS):
            ended = self.run(*arguments)
            if ended.result is not None and done(ended.result):
                return ended.result
            self.over.wait(60)
        raise Broken(f"`trifuse {' '.join(arguments)}` never ended well: {self.runs[-1].said}")

    def sync_to_end(self) -> None:
        """`trifuse sync --wait`, until nothing is pending."""
        self.insist("sync", self.name, "--wait", done=lambda result: not result["pending"])
