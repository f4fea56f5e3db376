"""A made-up click log: visitors who search, look at the ranking, and click, by a model from the literature.

    events = simulate(queries, judgements, ranking, seed=1, sessions=100_000, end=time.time())

The position-based model (Richardson, Dominowska, Ragno 2007; Craswell, Zoeter, Taylor, Ramsey 2008, "An
experimental comparison of click position-bias models"; Chuklin, Markov, de Rijke 2015, "Click Models for Web
Search", section 3.2): a document is clicked where it is examined, which depends on its rank alone, and
attractive, which depends on the document alone:

    P(click on d at rank k) = (1 / k)^eta · (noise + (1 - noise) · (2^grade - 1) / (2^highest - 1))

with the two factors of Joachims, Swaminathan, Schnabel 2017 ("Unbiased Learning-to-Rank with Biased
Feedback"). How often a query is asked falls with its rank r as (shift + r)^-s (Zipf and Mandelbrot), with the
s by which the rarest is asked about once: HEAD (over 44 clicks), TORSO (6 to 44) and TAIL all occur. Nothing
here was fitted to a real log; a simulated log shows what the code does with one, not what users do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from spelling import misspelled

from trifuse.worker.clicks.events import ClickEvent

BLOCK = 4096
"""Sessions that are drawn together. Part of what a seed stands for."""

DAY_S = 86_400.0
SEARCH_S = 60.0
"""From one search of a session to its next."""

LOOK_S = 3.0
"""From one document of a page to the next."""

SPELLINGS = 4
"""Wrong ones of each query: people make the same mistakes."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClickModel:
    """The position-based model.

    Args:
        eta: how fast attention falls with the rank; 0: every rank is examined.
        noise: the chance that an examined document of grade 0 is clicked.
        page: how many documents a search shows.
    """

    eta: float = 1.0
    noise: float = 0.1
    page: int = 20

    def examination(self) -> Floats:
        """The chance that each rank is examined: (page,).

        >>> ClickModel(page=4).examination().tolist()
        [1.0, 0.5, 0.3333333333333333, 0.25]
        """
        return np.arange(1, self.page + 1, dtype=np.float64) ** -self.eta

    def attractiveness(self, grades: Sequence[int], highest: int) -> Floats:
        """The chance that examined documents of these grades are clicked.

        >>> ClickModel(noise=0.1).attractiveness([0, 1, 2], highest=2).round(9).tolist()
        [0.1, 0.4, 1.0]
        """
        gain = (2.0 ** np.asarray(grades, dtype=np.float64) - 1) / (2.0**highest - 1)
        return self.noise + (1 - self.noise) * gain


def popularity(queries: int, searches: float, shift: float = 10.0) -> Floats:
    """The share of searches that go to each query, most popular first: (queries,), sum 1.

    The share falls as (shift + rank)^-s, and s is such that the rarest query is asked once; where that leaves
    less than 20 searches a query, a twentieth as often as the average.
    """
    rarest = min(1.0, searches / (20 * queries))
    ranks = shift + np.arange(1, queries + 1, dtype=np.float64)

    def relative(s: float) -> Floats:
        return (ranks[-1] / ranks) ** s

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rarest * relative(middle).sum() < searches else (low, middle)
    shares = relative(low)
    return shares / shares.sum()


@dataclass(frozen=True)
class _Pages:
    """What each query shows, and how attractive it is.

    Args:
        texts: of each query, then its wrong spellings.
        examination: (page,) chances by rank.
        before, after: (queries, page) chances until and since the query's turn; 0 where no document is shown.
        turn: (queries,) seconds since 1970.
    """

    texts: Sequence[Sequence[str]]
    shown: Sequence[tuple[str, ...]]
    examination: Floats
    before: Floats
    after: Floats
    turn: Floats

    def chances(self, asked: NDArray[np.int64], when: Floats) -> Floats:
        """(searches, page) chances of a click in searches for these queries at these times."""
        late = (when >= self.turn[asked])[:, None]
        return np.where(late, self.after[asked], self.before[asked]) * self.examination


def simulate(
    queries: Mapping[str, str],
    judgements: Mapping[str, Mapping[str, int]],
    ranking: Mapping[str, Sequence[str]],
    *,
    seed: int,
    sessions: int,
    end: float,
    days: float = 180.0,
    model: ClickModel | None = None,
    searches_a_session: float = 2.0,
    visitors: int = 20_000,
    spelled: float = 0.0,
    drift: float = 0.0,
    shift: float = 10.0,
) -> Iterator[ClickEvent]:
    """The events of a log, an impression and its clicks for each search, sessions in the order of their time.

    The same arguments give the same events. Memory grows with the queries, not with the events.

    Args:
        queries: id to text.
        judgements: query to document to grade; what isn't judged has grade 0.
        ranking: query to the documents that its searches show, best first. A query that isn't there, or finds
            nothing, isn't asked.
        sessions: visits, spread evenly over the time.
        end: seconds since 1970 at which the log ends.
        days: how long it lasts.
        searches_a_session: the mean of a geometric distribution.
        visitors: so many take turns by chance.
        spelled: the share of searches that are typed in one of a few wrong spellings of the query.
        drift: the share of queries whose interest moved: until a time in the middle half of the log, the
            grades belonged to other documents on the page. The judgements hold since then.
        shift: see `popularity`; the larger, the less the few most popular queries stand out.
    """
    model = model or ClickModel()
    rng = np.random.default_rng(seed)
    ids = [query for query in queries if ranking.get(query)]
    rng.shuffle(ids)  # which of them are popular
    begin, span = end - days * DAY_S, days * DAY_S
    pages = _pages(ids, queries, judgements, ranking, model, rng)
    if drift:
        pages = _drifting(pages, rng, drift, begin, span)
    cumulated = np.cumsum(popularity(len(ids), sessions * searches_a_session, shift))
    searches = 0
    for first in range(0, sessions, BLOCK):
        visits = np.arange(first, min(first + BLOCK, sessions))
        sizes = rng.geometric(1 / searches_a_session, len(visits))
        total = int(sizes.sum())
        visit = np.repeat(np.arange(len(visits)), sizes)
        started = begin + (visits + rng.random(len(visits))) / sessions * span
        when = started[visit] + SEARCH_S * (np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes))
        visitor = rng.integers(visitors, size=len(visits))[visit]
        asked = np.searchsorted(cumulated, rng.random(total) * cumulated[-1], side="right")
        typed = np.where(rng.random(total) < spelled, rng.integers(1, 1 + SPELLINGS, size=total), 0)
        rows, ranks = np.nonzero(rng.random((total, model.page)) < pages.chances(asked, when))
        ends = np.searchsorted(rows, np.arange(total), side="right")
        columns = (asked, typed, when, visits[visit], visitor, ends)
        clicked = (ranks + 1).tolist()
        start = 0
        for query, spelling, time, session, user, stop in zip(
            *(each.tolist() for each in columns), strict=True
        ):
            yield from _search(
                f"{seed}-{searches}",
                pages.texts[query][spelling],
                pages.shown[query],
                clicked[start:stop],
                time,
                session=f"s{seed}-{session}",
                user=f"u{seed}-{user}",
            )
            start = stop
            searches += 1


def attack(
    query: str, document: str, clicks: int, *, at: float, spellings: int = 0, visitor: str | None = "attacker"
) -> Iterator[ClickEvent]:
    """One visitor, in one session, clicks again and again on one document.

    Args:
        query: the text that is typed.
        at: seconds since 1970; all clicks fall within the ten minutes after.
        spellings: so many wrong spellings of the query take turns; 0: the query itself.
        visitor: None: the events don't say who made them, nor in which session.
    """
    rng = np.random.default_rng(0)
    texts = [query, *(misspelled(query, rng) for _ in range(spellings))][min(spellings, 1) :]
    for number in range(clicks):
        yield ClickEvent(
            query=texts[number % len(texts)],
            doc_id=document,
            event_id=f"{visitor}:{query}:{document}:{at:.0f}:{number}",
            timestamp=at + 600.0 * number / clicks,
            position=1,
            session=visitor and f"session of {visitor}",
            user=visitor,
        )


def _pages(
    ids: Sequence[str],
    queries: Mapping[str, str],
    judgements: Mapping[str, Mapping[str, int]],
    ranking: Mapping[str, Sequence[str]],
    model: ClickModel,
    rng: np.random.Generator,
) -> _Pages:
    highest = max((grade for grades in judgements.values() for grade in grades.values()), default=1)
    shown = [tuple(ranking[query][: model.page]) for query in ids]
    attractive = np.zeros((len(ids), model.page))
    for row, (query, documents) in enumerate(zip(ids, shown, strict=True)):
        grades = judgements.get(query, {})
        attractive[row, : len(documents)] = model.attractiveness(
            [max(0, grades.get(document, 0)) for document in documents], max(1, highest)
        )
    texts = [(queries[query], *(misspelled(queries[query], rng) for _ in range(SPELLINGS))) for query in ids]
    return _Pages(texts, shown, model.examination(), attractive, attractive, np.full(len(ids), -np.inf))


def _drifting(pages: _Pages, rng: np.random.Generator, share: float, begin: float, span: float) -> _Pages:
    """Some queries found other documents attractive until their turn: those of now, in another order."""
    before, turn = pages.after.copy(), pages.turn.copy()
    for row in np.flatnonzero(rng.random(len(turn)) < share).tolist():
        documents = len(pages.shown[row])
        before[row, :documents] = rng.permutation(before[row, :documents])
        turn[row] = begin + span * rng.uniform(0.25, 0.75)
    return replace(pages, before=before, turn=turn)


def _search(
    search: str,
    query: str,
    shown: tuple[str, ...],
    positions: Sequence[int],
    time: float,
    *,
    session: str,
    user: str,
) -> Iterator[ClickEvent]:
    """The impression of one search, then its clicks from top to bottom."""
    visit = {"query": query, "query_id": search, "session": session, "user": user}
    yield ClickEvent(kind="impression", timestamp=time, shown=shown, **visit)
    for position in positions:
        yield ClickEvent(
            doc_id=shown[position - 1],
            event_id=f"{search}:{position}",
            timestamp=time + LOOK_S * position,
            position=position,
            **visit,
        )
