"""What a reader yields: a trial, or what could not be read and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from trifuse.indexer.readers.normal import Raw, trial_of
from trifuse.indexer.readers.text import Wraps, clean
from trifuse.indexer.readers.values import nct_ids
from trifuse.indexer.trial import Trial

_LONGEST_NAME = 200


class Record(msgspec.Struct, frozen=True):
    """A trial and where it stood.

    Args:
        trial: the trial in its normal form.
        source: the file, and the member of a zip after `!`: `studies.zip!NCT1.json`.
        line: 1-based line of NDJSON or CSV, 1-based position in a JSON array; None where a file is one trial.
        unknown: what the source has and no version of its schema knows: `newModule`,
            `protocolSection.newModule`.
    """

    trial: Trial
    source: str
    line: int | None = None
    unknown: tuple[str, ...] = ()


class Rejection(msgspec.Struct, frozen=True):
    """Something that stood where a trial was expected.

    Args:
        source, line: where it stood, as in `Record`.
        id: its NCT id where it has one.
        reason: what was found, and what was expected.
    """

    source: str
    line: int | None
    id: str | None
    reason: str


@dataclass
class Place:
    """Where a reader stands: it moves `line` on, so that damage can be named where it shows."""

    source: str
    line: int | None = None

    def reject(self, reason: str, nct_id: str | None = None) -> Rejection:
        """What stands here is no trial."""
        return Rejection(self.source, self.line, nct_id, _writable(reason))

    def records(
        self, raw: Raw, *, unknown: Iterable[str] = (), wraps: Wraps = "maybe"
    ) -> Iterator[Record | Rejection]:
        """The trial that stands here; one for each id where the source names several in one (`NCT1,NCT2`)."""
        ids = nct_ids(raw.get("nct_id"))
        names = tuple(_writable(name)[:_LONGEST_NAME] for name in unknown)
        if not ids:
            yield self.reject(_no_id(raw))
        for nct_id in ids:
            yield Record(trial_of(nct_id, raw, wraps=wraps), self.source, self.line, names)


def _writable(text: str) -> str:
    """What a source calls something, as a report can hold it: JSON keys may be half a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode()


def _no_id(raw: Raw) -> str:
    found = clean(raw.get("nct_id"))
    what = f"its id {found[:40]!r} is not an NCT id" if found else "it has no NCT id"
    title = clean(raw.get("brief_title"))
    titled = f" (titled {title[:60]!r})" if title else ""
    return f"no trial: {what}{titled}; a study needs one, like NCT01234567"
