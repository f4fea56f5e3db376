"""What of a log couldn't be taken: where each reason was met first, and every record of it in a file.

with rejections(Path("rejected.ndjson")) as rejected:
    intake.take(read_log(files), on_reject=rejected)
rejected.first  # {"unknown document": "clicks.jsonl:17"}
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import UnwritableReport
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.placed import Placed


class Rejections:
    """Takes note of every record that is rejected.

    Args:
        file: where each is written, as a line of JSON: its `place`, the `reason`, its `id`, and the `record`
            as it was read.
    """

    def __init__(self, file: BinaryIO | None = None) -> None:
        self.first: dict[str, str] = {}
        self._file = file

    def __call__(self, item: ClickEvent | Fault | Placed, reason: str) -> None:
        """Note one, and why; what comes without a place (a live event) has only its line in the file."""
        place = item.place if isinstance(item, Placed) else None
        if place is not None:
            self.first.setdefault(reason, place)
        if self._file is not None:
            event = item.item if isinstance(item, Placed) else item
            record = item.record if isinstance(item, Placed) else event
            line = {"place": place, "reason": reason, "id": _id(event, record), "record": record}
            try:
                self._file.write(_json(line) + b"\n")
            except OSError as error:
                raise UnwritableReport(
                    f"the report can't be written on ({error}): make room for it"
                ) from error


@contextmanager
def rejections(path: Path | None) -> Iterator[Rejections]:
    """What takes note of rejections, writing them to a file where one is named.

    Raises:
        UnwritableReport: the file can't be written; said before anything is read.
    """
    if path is None:
        yield Rejections()
        return
    try:
        file = path.open("wb")
    except OSError as error:
        raise UnwritableReport(
            f"the report can't be written to {path} ({error}): name another file (--report)"
        ) from error
    with file:
        yield Rejections(file)


def _id(event: ClickEvent | Fault, record: Any) -> str | None:
    """The log's own id of an event, where it has one."""
    if isinstance(event, ClickEvent) and event.event_id:
        return event.event_id
    found = (record.get("_id") or record.get("event_id")) if isinstance(record, dict) else None
    return None if found is None else str(found)


def _json(line: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:  # half a surrogate pair: what it was rejected for, maybe
        return msgspec.json.encode({**line, "id": None, "record": ascii(line["record"])})
