"""The parameters of a `_search` URL: every one is used, or refused by name before anything is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trifuse.ranker.errors import BodyError

RESOLVING = frozenset({"allow_no_indices", "expand_wildcards", "ignore_unavailable"})
"""Decide which indices a name stands for: go with every request."""

SEARCHING = frozenset(
    {"allow_partial_search_results", "preference", "request_cache", "routing", "search_type"}
)
"""Go with every leg and with the page."""

NAMING = frozenset({"typed_keys"})
"""Shape the names of aggregations and suggestions: go with the legs."""

SHAPING = frozenset({"search_pipeline"})
"""Shape the hits: go with the page, in its body, where they replace the body's own, as in OpenSearch."""

REFUSED = {
    "filter_path": "it would cut what fusion reads; pick from the response",
    "scroll": "fused results end at the profile's depth; page with from and size",
    "rest_total_hits_as_int": "hits.total is an object here",
    "q": "put the query into the body",
}


@dataclass(frozen=True)
class UrlParams:
    """A URL's parameters, taken apart.

    Args:
        resolving: for reading mappings and aliases.
        header: for each leg's header in `_msearch`, and for the page.
        naming: for `_msearch` itself.
        shaping: for the body of the page.
    """

    resolving: Mapping[str, Any]
    header: Mapping[str, Any]
    naming: Mapping[str, Any]
    shaping: Mapping[str, Any] = field(default_factory=dict)


def read_params(params: Mapping[str, Any] | None, *, text: str) -> UrlParams:
    """Take the parameters apart.

    Without a `preference` one is made from the text: pages of one query come from the same shard copies,
    where equal scores have one order.

    Raises:
        BodyError: naming the parameter and the remedy.
    """
    # One text, one hash: which is of no matter, and this one takes a third of SHA-256's time.
    same_copies = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    if not params:
        return UrlParams({}, {"preference": same_copies}, {})
    for key in params:
        if key in REFUSED:
            raise BodyError(f"the URL's {key!r} can't be used: {REFUSED[key]}")
        if key not in RESOLVING | SEARCHING | NAMING | SHAPING:
            raise BodyError(f"the URL's {key!r} is on no list of what trifuse knows: put it into the body")
    params = {key: _in_url(value) for key, value in params.items()}
    resolving = {key: params[key] for key in RESOLVING & params.keys()}
    header = {
        "preference": same_copies,
        **{key: params[key] for key in SEARCHING & params.keys()},
        **resolving,
    }
    naming, shaping = ({key: params[key] for key in keys & params.keys()} for keys in (NAMING, SHAPING))
    return UrlParams(resolving, header, naming, shaping)


def _in_url(value: Any) -> Any:
    """A value as it stands in a URL: the client writes Python's own form of it there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
