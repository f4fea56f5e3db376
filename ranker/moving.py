"""An alias that is moved while it is searched: how that shows, and what is left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from trifuse.ranker.request import Request
from trifuse.ranker.types import LegReport

TRIES = 5
"""Of one search: an alias that is moved once takes two."""

Doubt = Literal["none", "some", "foreign"]
"""Whether a search met other indices than it was made for: no; something is missing, which may be; it did."""


def doubt_of(request: Request, hits: Iterable[Mapping[str, Any]], *, whole: bool) -> Doubt:
    """How sure it is that the hits are of the indices whose spaces were read.

    Each field of vectors has one space, so that a query made for one index finds no such field in another:
    its dense leg fails there, or brings nothing. And documents of an index that an alias left can't be
    fetched by it.

    Args:
        whole: the dense leg brought hits if it was sent, and every document of the page was fetched.
    """
    if any(hit["_index"] not in request.target.indices for hit in hits):
        return "foreign"
    return "none" if whole else "some"


def without_dense(request: Request) -> Request:
    """The request without its dense leg: nothing more is compared whose space wasn't checked."""
    report = request.encoded.dense
    if report.state == "ok":
        why = f"what {request.target.expression!r} stands for changed during each of {TRIES - 1} tries"
        report = LegReport("failed", why, report.took_ms)
    return replace(request, encoded=replace(request.encoded, vector=None, dense=report), exact=None)
