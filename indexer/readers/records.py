"""What a reader yields: a trial, or what could not be read and why."""

from __future__ import annotations

import msgspec

from trifuse.indexer.trial import Trial


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
