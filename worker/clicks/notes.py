"""What of a click log was left aside while it was read: for whoever is to be told at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

_MAX_FIELDS = 100
_MAX_CHARS = 100


class Notes(msgspec.Struct):
    """What a reader left aside.

    Args:
        format: the kind of log that the files were read as.
        holding: how many files hold something of it.
        passed_over: files that hold nothing of it.
        unknown_fields: field to the number of records that have it though the format doesn't know it, or with
            a value that can't be used; of the first 100 such fields.
    """

    format: str = ""
    holding: int = 0
    passed_over: list[str] = msgspec.field(default_factory=list)
    unknown_fields: Counter[str] = msgspec.field(default_factory=Counter)

    def add_fields(self, names: Iterable[str]) -> None:
        """Note the fields of a record; memory doesn't grow with what a log invents."""
        for name in names:
            field = name[:_MAX_CHARS].encode("utf-8", "replace").decode()
            if field in self.unknown_fields or len(self.unknown_fields) < _MAX_FIELDS:
                self.unknown_fields[field] += 1
