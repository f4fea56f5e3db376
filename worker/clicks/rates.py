"""Click-through by rank: estimated from the log's searches whose page is known.

    estimate(client, "trials").curve  # for `trifuse.worker.clicks.positions.save_curve`

A rank's rate is the share of the pages that showed something there on which it was clicked. Pages are the
impressions of searches, and those that a click brings with it. Where a log keeps a page only if it was
clicked on, the rates are those of such pages: too high as a whole, but of the right shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

import msgspec
from opensearchpy import OpenSearch

from trifuse.worker.clicks.checks import MAX_SHOWN
from trifuse.worker.clicks.errors import NoPages
from trifuse.worker.clicks.event_search import EventSearch
from trifuse.worker.clicks.positions import DEFAULT_CURVE, RANKS

PRIOR_PAGES = 100.0
"""So many pages that were expected are added to each rank: few pages say little of a rank."""

_SHOWN = {"script": {"lang": "painless", "source": "doc['shown'].size()"}}
"""How many documents a page showed."""


class RankRate(msgspec.Struct, frozen=True):
    """How often what stood at a rank was clicked.

    Args:
        rank: from 1.
        shown: pages that showed something there.
        clicked: of these, on how many it was clicked.
        smoothed: the rate that the curve has there.
    """

    rank: int
    shown: int
    clicked: int
    smoothed: float

    @property
    def rate(self) -> float:
        """The plain rate; 0 where nothing was shown."""
        return self.clicked / self.shown if self.shown else 0.0

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """Wilson's interval of the plain rate, of 95 % unless told otherwise (Wilson 1927)."""
        if not self.shown:
            return 0.0, 1.0
        n, p = self.shown, self.rate
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


class Estimate(msgspec.Struct, frozen=True):
    """Click-through by rank.

    Args:
        pages: how many it was estimated from.
        ranks: from 1 on.
        pageless: clicks that name a search whose page the log doesn't have.
    """

    pages: int
    ranks: list[RankRate]
    pageless: int = 0

    @property
    def curve(self) -> list[float]:
        """The smoothed rates, as they are kept."""
        return [rank.smoothed for rank in self.ranks]


def estimate(client: OpenSearch, index: str) -> Estimate:
    """Estimate the click-through at each rank from a search index's click log.

    Raises:
        NoEvents: the index has no click log.
        NoPages: no page of results is known of any search.
    """
    search = EventSearch(client, index)
    search.refresh()
    pages, pageless, shown, clicked = 0, 0, [0] * RANKS, [0] * RANKS
    for page in chain(_searches(search), _pages_of_clicks(search)):
        if not page.length:
            pageless += page.clicks
            continue
        pages += page.number
        for rank in range(min(page.length, RANKS)):
            shown[rank] += page.number
            clicked[rank] += page.number * (rank + 1 in page.clicked)
    if not pages:
        raise NoPages(
            f"the click log of {index!r} knows of no page of results that was shown: load impressions, too "
            "(ubi_queries with query_response_hit_ids, or `shown` in JSON lines); until then the default "
            "curve holds"
        )
    smoothed = smooth(shown, clicked)
    ranks = [RankRate(rank + 1, shown[rank], clicked[rank], smoothed[rank]) for rank in range(RANKS)]
    return Estimate(pages, ranks, pageless)


def smooth(shown: Sequence[int], clicked: Sequence[int]) -> list[float]:
    """Rates that fall with the rank: drawn to the default curve, and of neighbours that rise, the mean.

    A rank is drawn to the rate of the rank above it, less as much as the default curve falls there: a log of
    many clicks has no cliff where its pages end. The mean is isotonic regression by pooling adjacent
    violators, each rank weighted by its pages (Ayer et al. 1955).

    >>> [round(rate, 2) for rate in smooth([900, 900], [270, 360])]  # 0.3 and 0.375 after the first step
    [0.34, 0.34]
    >>> [round(rate, 2) for rate in smooth([900, 0, 0], [570, 0, 0])]
    [0.6, 0.3, 0.2]
    """
    pools: list[tuple[float, float, int]] = []  # rate, weight, ranks
    for rank, (n, k) in enumerate(zip(shown, clicked, strict=True)):
        weight = n + PRIOR_PAGES
        fall = DEFAULT_CURVE[rank] / DEFAULT_CURVE[rank - 1] if rank else DEFAULT_CURVE[0]
        prior = fall * (pools[-1][0] if rank else 1.0)
        pools.append(((k + PRIOR_PAGES * prior) / weight, weight, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (rate, of_rate, ranks), (above, of_above, more) = pools.pop(), pools.pop()
            both = of_rate + of_above
            pools.append(((rate * of_rate + above * of_above) / both, both, ranks + more))
    return [rate for rate, _, ranks in pools for _ in range(ranks)]


class _Pages(NamedTuple):
    """Pages of so many documents, with a click at each of these positions; how many clicks came from them."""

    number: int
    length: int
    clicked: set[int]
    clicks: int


def _searches(search: EventSearch) -> Iterator[_Pages]:
    """Each search, without length where its page isn't known; what was clicked twice counts once."""
    sources = {
        "search": "query_id",
        "event": "kind",
        "position": {"terms": {"field": "position", "missing_bucket": True}},
    }
    buckets = search.buckets(sources, {"shown": {"max": _SHOWN}})
    for _, group in groupby(buckets, key=lambda bucket: bucket["key"]["search"]):
        length, clicked, clicks = 0, set(), 0
        for bucket in group:
            if bucket["key"]["event"] == "click":
                clicked.add(bucket["key"]["position"])
                clicks += bucket["doc_count"]
            else:
                length = max(length, int(bucket["shown"]["value"] or 0))
        yield _Pages(1, length, clicked, clicks)


def _pages_of_clicks(search: EventSearch) -> Iterator[_Pages]:
    """The pages that clicks outside of a search bring with them, each with its one click."""
    query = {
        "bool": {
            "filter": [{"term": {"kind": "click"}}, {"exists": {"field": "shown"}}],
            "must_not": [{"exists": {"field": "query_id"}}],
        }
    }
    positions = {"positions": {"terms": {"field": "position", "size": RANKS, "order": {"_key": "asc"}}}}
    lengths = {"terms": {**_SHOWN, "value_type": "long", "size": MAX_SHOWN}, "aggs": positions}
    for bucket in search.aggregate(query, {"lengths": lengths})["lengths"]["buckets"]:
        length, rest = int(bucket["key"]), int(bucket["doc_count"])
        for position in bucket["positions"]["buckets"]:
            rest -= position["doc_count"]
            yield _Pages(position["doc_count"], length, {position["key"]}, position["doc_count"])
        yield _Pages(rest, length, set(), rest)
