"""Errors of the click log.

WorkerError
└── ClickLogError
    ├── SearchIndexMissing   there is no index that the clicks could belong to
    ├── ClickStoreDown       Redis didn't take the counts; the events are kept
    ├── ClicksUndelivered    the broker can't be reached: live events weren't sent
    ├── UnreadableLog        a file that holds no click log that trifuse knows
    ├── UnwritableReport     a file for what is rejected that can't be written
    ├── NoEvents             no event of that index is kept
    ├── NoPages              no page of results that was shown is known
    ├── NothingJudged        no document was shown often enough to be judged by its clicks
    ├── NothingSelected      events are to be forgotten, and it isn't said which
    ├── Unsettled            queries that are clicked for faster than they can be counted anew
    └── BadCurve             click-through rates by rank that are none
"""

from __future__ import annotations

from trifuse.worker.errors import WorkerError


class ClickLogError(WorkerError):
    """An error of the click log."""


class SearchIndexMissing(ClickLogError):
    """There is no index that the clicks could belong to."""


class ClickStoreDown(ClickLogError):
    """Redis didn't take the counts; the events are kept, and a rebuild counts them."""


class ClicksUndelivered(ClickLogError):
    """The broker can't be reached: live events weren't sent."""


class UnreadableLog(ClickLogError):
    """A file that can't be read, or that holds no click log that trifuse knows."""


class UnwritableReport(ClickLogError):
    """A file for what is rejected that can't be written."""


class NoEvents(ClickLogError):
    """No event of that index is kept."""


class NoPages(ClickLogError):
    """No page of results that was shown is known."""


class NothingJudged(ClickLogError):
    """No document was shown often enough to be judged by its clicks."""


class NothingSelected(ClickLogError):
    """Events are to be forgotten, and it isn't said which."""


class Unsettled(ClickLogError):
    """Queries are clicked for faster than they can be counted anew."""


class BadCurve(ClickLogError):
    """Click-through rates by rank that are none, or that couldn't be kept."""
