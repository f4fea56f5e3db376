"""Errors of the indexer.

TrifuseError
└── IndexerError
    ├── ServerUnavailable   OpenSearch didn't answer, or had no room, in all retries
    ├── BulkRefused         OpenSearch refused a whole bulk request
    ├── IndexBlocked        the index takes no writes: read-only, or its disk is full
    ├── IndexNotOurs        an index by that name exists, but isn't what is asked of it
    ├── CopyRefused         an index can't be copied, or its copy can't be switched to as it is
    │   └── CopyTaken       another process is switching to the same copy
    ├── IndexMissing        there is no index by that name
    ├── FieldDetached       a vector field was taken out of use, or its index made anew, while it was filled
    ├── AttachRefused       an index can't take vectors as it was asked to
    ├── ReembedRefused      an index isn't where the step that was asked for begins
    ├── DetachUnfinished    documents still hold vectors, since others keep changing them
    ├── PathNotFound        there is no file or folder at a path that was given
    ├── RegistryError       the registry's API refused, or didn't answer in all retries
    └── HintsUndelivered    the broker can't be reached: what is pending stays pending until `trifuse sync`
"""

from __future__ import annotations

from trifuse.encoder.errors import TrifuseError


class IndexerError(TrifuseError):
    """An error of the indexer."""


class ServerUnavailable(IndexerError):
    """OpenSearch didn't answer, or had no room, in all retries."""


class BulkRefused(IndexerError):
    """OpenSearch refused a whole bulk request: a wrong URL, wrong credentials, a malformed action."""


class IndexBlocked(IndexerError):
    """The index takes no writes: somebody made it read-only, or its disk is full."""


class IndexNotOurs(IndexerError):
    """An index by that name exists, but isn't what is asked of it."""


class CopyRefused(IndexerError):
    """An index can't be copied, or its copy can't be switched to as it is; the message says what to do."""


class CopyTaken(CopyRefused):
    """Another process is switching to the same copy, or has switched: look again in a moment."""


class HintsUndelivered(IndexerError):
    """The broker can't be reached: what is pending stays pending until `trifuse sync` queues it."""


class IndexMissing(IndexerError):
    """There is no index by that name."""


class FieldDetached(IndexerError):
    """A vector field was taken out of use, or its index deleted or made anew, while it was waited for."""


class PathNotFound(IndexerError):
    """There is no file or folder at a path that was given."""


class RegistryError(IndexerError):
    """The registry's API refused a request, or didn't answer in all retries."""


class AttachRefused(IndexerError):
    """An index can't take vectors as it was asked to; the message says what stands in the way."""


class ReembedRefused(IndexerError):
    """An index isn't where the step that was asked for begins; the message says what to do instead."""


class DetachUnfinished(IndexerError):
    """Documents still hold vectors or marks, since other writers keep changing them."""
