"""What of a log couldn't be taken: where each reason was met first, and every record of it in a file.

with Rejections(Path("report.rejected.ndjson")) as rejected:
    intake.take(read_log(files), on_reject=rejected)
rejected.first  # {"unknown document": "clicks.jsonl:17"}
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import UnwritableReport
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.placed import Placed


class Rejections:
    """Takes note of every record that is rejected.

    Args:
        path: a file that each is written to, as a line of JSON: its `place`, the `reason`, its `id`, and the
            `record` as it was read. It is made with the first of them; one of an earlier load is removed.

    Attributes:
        first: reason to the place where it was met first.
        dead_letter: the file, once there is something in it.

    Raises:
        UnwritableReport: the file can't be removed or written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.first: dict[str, str] = {}
        self.dead_letter: str | None = None
        self._path = path
        self._file: BinaryIO | None = None
        if path is not None:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UnwritableReport(
                    f"rejected records can't be written to {path} ({error}): name another file (--report)"
                ) from error

    def __call__(self, item: ClickEvent | Fault | Placed, reason: str) -> None:
        """Note one, and why; what comes without a place (a live event) has only its line in the file."""
        place = item.place if isinstance(item, Placed) else None
        if place is not None:
            self.first.setdefault(reason, place)
        if self._path is not None:
            event = item.item if isinstance(item, Placed) else item
            record = item.record if isinstance(item, Placed) else event
            self._write(self._path, _json(place=place, reason=reason, id=_id(event, record), record=record))

    def _write(self, path: Path, line: bytes) -> None:
        try:
            if self._file is None:
                self._file = path.open("wb", buffering=0)  # what was noted is there, whatever comes
                self.dead_letter = str(path)
            self._file.write(line + b"\n")
        except OSError as error:
            raise UnwritableReport(
                f"rejected records can't be written to {path} ({error}): make room, or name another file "
                "(--report)"
            ) from error

    def __enter__(self) -> Rejections:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def _id(event: ClickEvent | Fault, record: Any) -> str | None:
    """The log's own id of an event, where it has one."""
    if isinstance(event, ClickEvent) and event.event_id:
        return event.event_id
    found = (record.get("_id") or record.get("event_id")) if isinstance(record, dict) else None
    return None if found is None else str(found)


def _json(**line: Any) -> bytes:
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:  # half a surrogate pair: what it was rejected for, maybe
        return msgspec.json.encode({**line, "id": None, "record": ascii(line["record"])})
