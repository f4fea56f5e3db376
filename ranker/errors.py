"""Errors of the ranker.

TrifuseError
└── RankerError
    ├── BodyError           the request can't be answered as asked: refused before anything is sent (a 400)
    ├── ProfileError        a profile's settings contradict each other or are out of range
    │   ├── ProfileMissing      no profile, or no version of it, by that name
    │   └── ProfileNotNative    a profile that the server's own `hybrid` query can't rank by
    ├── IndexMissing        no index, alias or pattern by that name
    ├── DocumentMissing     no document by that id, or none that has a vector
    ├── SearchRejected      OpenSearch refused the user's own query; its error is handed on
    ├── SearchUnavailable   OpenSearch didn't answer
    └── EvaluationError
        ├── UnreadableInput     a file of queries or judgements, at a line
        ├── MeasureUnknown      no measure by that name
        ├── NothingToEvaluate   no query has a relevant document
        └── ExtraMissing        an optional package isn't installed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.encoder.errors import TrifuseError


class RankerError(TrifuseError):
    """An error of the ranker."""


class BodyError(RankerError):
    """The request can't be answered as asked: refused before anything is sent."""

    status = 400


class ProfileError(RankerError):
    """A profile's settings contradict each other or are out of range."""


class ProfileMissing(ProfileError):
    """No profile, or no version of it, by that name."""


class ProfileNotNative(ProfileError):
    """A profile that the server's own `hybrid` query can't rank by; the message names the cause."""


class IndexMissing(RankerError):
    """No index, alias or pattern by that name."""

    status = 404


class DocumentMissing(RankerError):
    """No document by that id, or none that has a vector."""

    status = 404


class SearchRejected(RankerError):
    """OpenSearch refused the user's own query.

    Args:
        message: one sentence.
        status: the HTTP status that OpenSearch gave.
        error: OpenSearch's `error` object, unchanged.
    """

    def __init__(self, message: str, *, status: int, error: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.error = error


class SearchUnavailable(RankerError):
    """OpenSearch didn't answer."""

    status = 503


class EvaluationError(RankerError):
    """An error of the evaluation."""


class UnreadableInput(EvaluationError):
    """A file of queries or judgements can't be read; the message names the file and the line."""


class MeasureUnknown(EvaluationError):
    """No measure by that name."""


class NothingToEvaluate(EvaluationError):
    """No query has a relevant document."""


class ExtraMissing(EvaluationError):
    """An optional package isn't installed; the message names the extra."""
