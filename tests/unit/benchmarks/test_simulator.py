"""The click simulator: what visitors do follows the model, and the seed decides the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

import numpy as np
import pytest
from simulator import ClickModel, attack, popularity, simulate
from spelling import misspelled

from trifuse.ranker.clicks.past_queries import normalize_query
from trifuse.ranker.clicks.settings import segment_of
from trifuse.worker.clicks.checks import fault
from trifuse.worker.clicks.events import ClickEvent

END = 1_700_000_000.0
DAY_S = 86_400.0


def by_kind(events: Iterable[ClickEvent]) -> tuple[list[ClickEvent], list[ClickEvent]]:
    """Impressions and clicks."""
    found = list(events)
    return [e for e in found if e.kind == "impression"], [e for e in found if e.kind == "click"]


def test_the_click_through_rate_of_each_rank_is_examination_times_attractiveness() -> None:
    """Grades 2, 0, 1, 0 of 2 at ranks 1 to 4 with noise 0.1: 1/1, 0.1/2, 0.4/3, 0.1/4; five deviations."""
    model = ClickModel(eta=1.0, noise=0.1, page=4)
    log = simulate(
        {"q": "gout"},
        {"q": {"a": 2, "c": 1, "unseen": 2}},
        {"q": ["a", "b", "c", "d", "unseen"]},
        seed=1,
        sessions=10_000,
        end=END,
        model=model,
    )
    impressions, clicks = by_kind(log)
    searches = len(impressions)
    assert abs(searches - 20_000) < 5 * math.sqrt(10_000 * 2)  # geometric, mean 2: variance 2
    found = Counter(click.position for click in clicks)
    for position, rate in ((1, 1.0), (2, 0.05), (3, 0.4 / 3), (4, 0.025)):
        bound = 5 * math.sqrt(searches * rate * (1 - rate))
        assert abs(found[position] - rate * searches) <= bound, position
    assert set(found) == {1, 2, 3, 4}
    assert {(c.position, c.doc_id) for c in clicks} == {(1, "a"), (2, "b"), (3, "c"), (4, "d")}


def test_attention_without_a_position_and_clicks_without_noise() -> None:
    """eta 0 and noise 0: every relevant document of the highest grade is clicked, no other is."""
    model = ClickModel(eta=0.0, noise=0.0, page=3)
    log = simulate(
        {"q": "gout"},
        {"q": {"b": 1, "c": 1}},
        {"q": ["a", "b", "c"]},
        seed=3,
        sessions=50,
        end=END,
        model=model,
    )
    impressions, clicks = by_kind(log)
    assert Counter(click.doc_id for click in clicks) == {"b": len(impressions), "c": len(impressions)}


def test_a_seed_stands_for_one_log() -> None:
    queries = {str(i): f"query number {i}" for i in range(30)}
    ranking = {query: [f"d{i}" for i in range(12)] for query in queries}

    def log(seed: int) -> list[ClickEvent]:
        made = simulate(queries, {}, ranking, seed=seed, sessions=500, end=END, spelled=0.2, drift=0.5)
        return list(made)

    assert log(7) == log(7)
    assert log(7) != log(8)
    assert not {event.id for event in log(7)} & {event.id for event in log(8)}


def test_every_event_passes_intake_and_has_an_id_of_its_own() -> None:
    queries = {str(i): f"query number {i}" for i in range(30)}
    ranking = {query: [f"d{i}" for i in range(12)] for query in queries}
    events = list(simulate(queries, {}, ranking, seed=1, sessions=300, end=END))
    assert {fault(event, END) for event in events} == {None}
    assert len({event.id for event in events}) == len(events)
    searches = {event.query_id: event for event in events if event.kind == "impression"}
    for event in events:
        assert searches[event.query_id].query == event.query
        assert event.position is None or searches[event.query_id].shown[event.position - 1] == event.doc_id
        assert END - 180 * DAY_S <= event.timestamp <= END + DAY_S
    times = [next(visit).timestamp for _, visit in groupby(events, key=lambda event: event.session)]
    assert times == sorted(times)
    assert len(times) == 300
    pairs = {(event.session, event.user) for event in events}
    assert len(pairs) == 300  # a session is one visitor's


def test_popularity_by_hand() -> None:
    """Two queries: the rarer is asked once in 60, or (20 searches, under 20 a query) half a time."""
    assert popularity(2, 60, shift=0) == pytest.approx([59 / 60, 1 / 60])
    assert popularity(2, 20, shift=0) == pytest.approx([19.5 / 20, 0.5 / 20])
    shares = popularity(500, 100_000)
    assert shares.sum() == pytest.approx(1)
    assert shares[-1] * 100_000 == pytest.approx(1)
    # Zipf and Mandelbrot's law: log of the share is linear in log of 10 + rank.
    slopes = np.diff(np.log(shares)) / np.diff(np.log(10.0 + np.arange(1, 501)))
    assert slopes == pytest.approx(slopes[0])


def test_queries_of_every_segment_occur() -> None:
    queries = {str(i): f"query number {i}" for i in range(400)}
    ranking = {query: ["a", "b", "c"] for query in queries}
    judged = {query: {"a": 1} for query in queries}
    _, clicks = by_kind(simulate(queries, judged, ranking, seed=1, sessions=20_000, end=END))
    found = Counter(segment_of(count) for count in Counter(click.query for click in clicks).values())
    assert min(found["HEAD"], found["TORSO"], found["TAIL"]) >= 20


def test_what_finds_nothing_is_not_asked() -> None:
    log = simulate({"q": "gout", "r": "rest"}, {}, {"q": ["a"], "r": []}, seed=1, sessions=50, end=END)
    assert {event.query for event in log} == {"gout"}


def test_interest_moves_once_and_then_stays_where_the_judgements_are() -> None:
    """Without noise one document of nine is clicked; before a query's turn it is one that isn't relevant."""
    queries = {str(i): f"query number {i}" for i in range(20)}
    ranking = {query: list("abcdefghi") for query in queries}
    judged = {query: {"e": 1} for query in queries}
    model = ClickModel(eta=0.0, noise=0.0, page=9)
    log = simulate(  # a large shift: all queries are about as popular
        queries,
        judged,
        ranking,
        seed=5,
        sessions=4000,
        end=END,
        days=100,
        model=model,
        drift=1.0,
        shift=1e6,
    )
    moved = 0
    clicks = sorted(by_kind(log)[1], key=lambda click: (click.query, click.timestamp))
    for _, own in groupby(clicks, key=lambda click: click.query):
        times = list(own)
        runs = [document for document, _ in groupby(click.doc_id for click in times)]
        assert len(runs) <= 2
        assert runs[-1] == "e"
        early = {click.doc_id for click in times if click.timestamp < END - 76 * DAY_S}
        late = {click.doc_id for click in times if click.timestamp > END - 24 * DAY_S}
        assert len(early) <= 1
        assert late <= {"e"}
        moved += len(runs) == 2
    assert moved >= 10  # one in nine stays where it was by chance


def test_wrong_spellings_are_other_queries_and_few() -> None:
    queries = {"q": "dietary cholesterol"}
    log = list(simulate(queries, {}, {"q": ["a"]}, seed=1, sessions=500, end=END, spelled=0.5))
    typed = Counter(event.query for event in log if event.kind == "impression")
    searches = sum(typed.values())
    assert abs(typed["dietary cholesterol"] - searches / 2) < 5 * math.sqrt(searches / 4)
    assert 2 <= len(typed) <= 5
    assert len({normalize_query(text) for text in typed}) == len(typed)


@pytest.mark.parametrize("text", ["gout", "a b c", "eeee", "statins and muscle pain"])
def test_a_misspelled_text_is_never_the_text(text: str) -> None:
    rng = np.random.default_rng(2)
    made = {misspelled(text, rng) for _ in range(100)}
    assert text not in made
    assert all(abs(len(each) - len(text)) <= 1 for each in made)


def test_an_attack_is_one_visitor_and_one_document() -> None:
    events = list(attack("gout", "d1", 100, at=END))
    assert {(e.query, e.doc_id, e.user, e.session) for e in events} == {
        ("gout", "d1", "attacker", "session of attacker")
    }
    assert len({event.id for event in events}) == 100
    assert max(event.timestamp for event in events) < END + 600
    spread = list(attack("dietary cholesterol", "d1", 100, at=END, spellings=5))
    assert "dietary cholesterol" not in {event.query for event in spread}
    assert 2 <= len({event.query for event in spread}) <= 5
