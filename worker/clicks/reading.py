"""Click logs from files: which kind they are, and the events that they hold.

    for event in read_clicks(["ubi_queries.ndjson", "ubi_events.ndjson.gz"]):
        ...

Files are read twice: once for the queries that stand apart from the clicks, then for the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trifuse.worker.clicks import checks, medcpt, plain, tripclick, ubi
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.files import LogFile, log_files
from trifuse.worker.clicks.records import Broken, Entry, Record, records
from trifuse.worker.clicks.texts import QueryTexts

AUTO = "auto"


class Format(NamedTuple):
    """A kind of log.

    Args:
        matches: whether a record is one of its own.
        text: the id and the text of a query that a record keeps for other records.
        event: what a record says.
    """

    matches: Callable[[Record], bool]
    text: Callable[[Record], tuple[str, str] | None]
    event: Callable[[Record, QueryTexts], ClickEvent | Fault]


FORMATS = {
    module.NAME: Format(module.matches, module.text, module.event)
    for module in (ubi, medcpt, tripclick, plain)
}

_LOOK_AT = 100
"""Records of a file by which its kind is recognised."""


def read_clicks(
    paths: Iterable[str | Path], format: str = AUTO, *, stdin: BinaryIO | None = None
) -> Iterator[ClickEvent | Fault]:
    """The events of a log's files, and a fault for each record that holds none that can be taken.

    Args:
        paths: files (plain or gzip), folders, or `-` for standard input.
        format: `ubi`, `medcpt`, `tripclick`, `jsonl`, or `auto` to recognise it by the first records.

    Raises:
        UnreadableLog: a file is missing, or of no kind that is known; or broken, after what stands before
            the fault and in the other files.
    """
    with ExitStack() as stack:
        files = log_files(paths, stack, stdin)
        kind = _recognised(files) if format == AUTO else _named(format)
        files = [file for file in files if file.named or _belongs(file, kind)]
        texts = stack.enter_context(QueryTexts())
        for file in files:
            with suppress(UnreadableLog):  # raised again below, after what can be read
                for record in records(file):
                    if found := kind.text(record):
                        texts.add(*found)
        broken: list[str] = []
        for file in files:
            try:
                for record in records(file):
                    if isinstance(record, Broken):
                        yield Fault(checks.NOT_AN_EVENT)
                    elif not isinstance(record, Entry) or kind.text(record) is None:
                        yield kind.event(record, texts)
            except UnreadableLog as error:
                broken.append(str(error))
        if broken:
            raise UnreadableLog("; ".join(broken))


def _belongs(file: LogFile, kind: Format) -> bool:
    """Whether a file of a folder holds anything of this kind."""
    first = islice(records(file), _LOOK_AT)
    try:
        return any(kind.matches(record) or kind.text(record) is not None for record in first)
    except UnreadableLog:
        return True  # it may hold more of the log than can be read: the user is to know


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise UnreadableLog(f"there is no format {name!r}: expected {AUTO}, {', '.join(FORMATS)}")
    return FORMATS[name]


def _recognised(files: list[LogFile]) -> Format:
    """The kind of the log: that of the first record that is one of a kind's."""
    broken: list[str] = []
    for file in files:
        try:
            for record in islice(records(file), _LOOK_AT):
                for kind in FORMATS.values():
                    if kind.matches(record):
                        return kind
        except UnreadableLog as error:
            broken.append(str(error))
    if broken:
        raise UnreadableLog("; ".join(broken))
    names = ", ".join(file.name for file in files) or "no file"
    raise UnreadableLog(
        f"{names}: not recognised as a click log. Expected UBI's ubi_queries and ubi_events, MedCPT's "
        "lines of qid, pmid, click, TripClick's logs or qrels, or JSON lines of query and "
        "doc_id; or name the --format"
    )
