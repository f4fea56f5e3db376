"""Where in a log something stands: for what is said of a record that can't be taken."""

from __future__ import annotations

from typing import Any

import msgspec

from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent


class Placed(msgspec.Struct, frozen=True):
    """An event, or a fault, and the record that it was read from.

    Args:
        item: what the record says.
        place: `file:line`; where a file isn't read by lines, `file:record 3`.
        record: as it was read; None where it couldn't be.
    """

    item: ClickEvent | Fault
    place: str
    record: Any = None
