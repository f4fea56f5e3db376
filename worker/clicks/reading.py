"""Click logs from files: which kind they are, and the events that they hold.

    for event in read_clicks(["ubi_queries.ndjson", "ubi_events.ndjson.gz"]):
        ...

Files are read twice: once for the queries that stand apart from the clicks, then for the events. `read_log`
says of each event where it stands.
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
from trifuse.worker.clicks.notes import Notes
from trifuse.worker.clicks.placed import Placed
from trifuse.worker.clicks.records import Broken, Entry, Record, records
from trifuse.worker.clicks.texts import QueryTexts

AUTO = "auto"


def _no_page(record: Record) -> ClickEvent | None:
    return None


def _no_fields(record: Record) -> Iterable[str]:
    return ()


class Format(NamedTuple):
    """A kind of log.

    Args:
        matches: whether a record is one of its own.
        text: the id and the text of a query that a record keeps for other records.
        event: what a record says.
        page: the impression that a click's record holds beside the click.
        others: names of files that lie beside a log of this kind, and are none.
        unknown: fields of a record that mean nothing, or hold what they can't.
    """

    matches: Callable[[Record], bool]
    text: Callable[[Record], tuple[str, str] | None]
    event: Callable[[Record, QueryTexts], ClickEvent | Fault]
    page: Callable[[Record], ClickEvent | None] = _no_page
    others: frozenset[str] = frozenset()
    unknown: Callable[[Record], Iterable[str]] = _no_fields


FORMATS = {
    ubi.NAME: Format(ubi.matches, ubi.text, ubi.event),
    medcpt.NAME: Format(medcpt.matches, medcpt.text, medcpt.event, others=medcpt.OTHER_FILES),
    tripclick.NAME: Format(
        tripclick.matches, tripclick.text, tripclick.event, tripclick.page, tripclick.OTHER_FILES
    ),
    plain.NAME: Format(plain.matches, plain.text, plain.event, unknown=plain.unknown),
}

_LOOK_AT = 100
"""Records of a file by which its kind is recognised."""

_PAGES_IN_MIND = 10_000

EXPECTED = (
    "Expected UBI's ubi_queries and ubi_events, MedCPT's lines of qid, pmid, click, TripClick's logs or "
    "qrels, or JSON lines of query and doc_id; or name the --format"
)
"""What is said where no log was found."""


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
    return (placed.item for placed in read_log(paths, format, stdin=stdin))


def read_log(
    paths: Iterable[str | Path],
    format: str = AUTO,
    *,
    stdin: BinaryIO | None = None,
    notes: Notes | None = None,
) -> Iterator[Placed]:
    """The same as `read_clicks`, each with the place and the record that it was read from.

    Args:
        notes: takes what is left aside; complete once all is read.
    """
    notes = Notes() if notes is None else notes
    with ExitStack() as stack:
        given = log_files(paths, stack, stdin)
        notes.format = _recognised(given) if format == AUTO else format
        kind = _named(notes.format)
        texts = stack.enter_context(QueryTexts())
        files: list[LogFile] = []
        for file in given:
            own = (file.named or _belongs(file, kind)) and _keep_texts(file, kind, texts)
            if own or file.named:
                files.append(file)
            if own:
                notes.holding += 1
            elif file.path.name not in kind.others:
                notes.passed_over.append(file.name)
        broken: list[str] = []
        pages: dict[str, None] = {}
        for file in files:
            try:
                for place, record in records(file):
                    where = f"{file.name}:{place}"
                    if isinstance(record, Broken):
                        yield Placed(Fault(checks.NOT_AN_EVENT), where, record.text)
                        continue
                    if isinstance(record, Entry) and kind.text(record) is not None:
                        continue
                    if (page := kind.page(record)) is not None and _is_new(page.id, pages):
                        yield Placed(page, where, record)
                    if kind.matches(record):
                        notes.add_fields(kind.unknown(record))
                    yield Placed(kind.event(record, texts), where, record)
            except UnreadableLog as error:
                broken.append(str(error))
        if broken:
            raise UnreadableLog("; ".join(broken))


def _is_new(page: str, pages: dict[str, None]) -> bool:
    """Whether a page of results isn't among the last ones; clicks on one page stand close to each other."""
    if page in pages:
        return False
    pages[page] = None
    if len(pages) > _PAGES_IN_MIND:
        del pages[next(iter(pages))]
    return True


def _belongs(file: LogFile, kind: Format) -> bool:
    """Whether a file of a folder holds anything of this kind."""
    if file.path.name in kind.others:
        return False
    first = islice(records(file), _LOOK_AT)
    try:
        return any(kind.matches(record) or kind.text(record) is not None for _, record in first)
    except UnreadableLog:
        return True  # it may hold more of the log than can be read: the user is to know


def _keep_texts(file: LogFile, kind: Format, texts: QueryTexts) -> bool:
    """Keep the queries of a file that stand apart; False where it holds records, and none of this kind."""
    own, others = False, False
    with suppress(UnreadableLog):  # raised again by whoever reads on, after what can be read
        for _, record in records(file):
            if found := kind.text(record):
                texts.add(*found)
            own = own or found is not None or isinstance(record, Broken) or kind.matches(record)
            others = True
    return own or not others


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise UnreadableLog(f"there is no format {name!r}: expected {AUTO}, {', '.join(FORMATS)}")
    return FORMATS[name]


def _recognised(files: list[LogFile]) -> str:
    """The format of the log: that of the first record that is one of a kind's."""
    broken: list[str] = []
    for file in files:
        try:
            for _, record in islice(records(file), _LOOK_AT):
                for name, kind in FORMATS.items():
                    if kind.matches(record):
                        return name
        except UnreadableLog as error:
            broken.append(str(error))
    if broken:
        raise UnreadableLog("; ".join(broken))
    names = ", ".join(file.name for file in files) or "no file"
    raise UnreadableLog(f"{names}: not recognised as a click log. {EXPECTED}")
