"""Evidence against a plain reading of its formula, and the choice of past queries."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.click_evidence import Lookup, PastQuery, SimilarQuery, gather
from trifuse.ranker.click_records import doc_hash, pack
from trifuse.ranker.click_settings import WEIGHTINGS, ClickSettings
from trifuse.ranker.past_queries import query_id

DAY = 86_400
NOW = 1_750_000_000.0


def past(text: str, similarity: float = 1.0) -> PastQuery:
    return PastQuery(query_id(text), text, similarity)


def lookup(*, leave_one_out: bool = False, **settings: object) -> Lookup:
    return Lookup(past("asthma"), "cosine", ClickSettings(**settings), leave_one_out)  # type: ignore[arg-type]


# --- which past queries ---


def test_the_nearest_m_above_the_floor() -> None:
    found = [("a", 0.9), ("b", 0.8), ("c", 0.75), ("d", 0.69)]
    assert lookup(m=2).choose(found) == [past("a", 0.9), past("b", 0.8)]
    assert [each.text for each in lookup().choose(found)] == ["a", "b", "c"]
    assert [each.text for each in lookup(min_similarity=0.0).choose(found)] == ["a", "b", "c", "d"]
    assert lookup(m=0).choose(found) == []


def test_no_floor_under_inner_products() -> None:
    dot = replace(lookup(), similarity="dot")
    assert [each.similarity for each in dot.choose([("a", 3.0), ("b", -700.0)])] == [3.0, -700.0]


def test_the_query_itself_takes_the_place_of_its_past_query_and_needs_no_floor() -> None:
    # as it was spelt then it may lie elsewhere
    assert lookup().choose([("a", 0.9), ("asthma", 0.1)]) == [past("a", 0.9), past("asthma", 1.0)]


def test_left_out_it_leaves_its_place_to_the_next() -> None:
    found = [("asthma", 1.0), ("a", 0.9), ("b", 0.8)]
    assert [each.text for each in lookup(m=2).choose(found)] == ["asthma", "a"]
    assert [each.text for each in lookup(m=2, leave_one_out=True).choose(found)] == ["a", "b"]


def test_a_share_of_the_log_is_the_same_queries_each_time() -> None:
    texts = [f"query {i}" for i in range(400)]
    found = [(text, 0.9) for text in texts]
    chosen = {
        share: {each.text for each in lookup(m=400, log_share=share).choose(found)}
        for share in (0.1, 0.5, 1.0)
    }
    assert chosen[0.1] < chosen[0.5] < chosen[1.0] == set(texts)
    # 3 standard deviations of a binomial
    assert len(chosen[0.1]) == pytest.approx(40, abs=18)
    assert len(chosen[0.5]) == pytest.approx(200, abs=30)


# --- scores, against the formula ---


class Record(NamedTuple):
    doc: str
    age_days: int
    clicks: float
    expected: float

    def packed(self) -> bytes:
        return pack(doc_hash(self.doc), NOW - self.age_days * DAY, self.clicks, self.expected)


records = st.builds(
    Record,
    st.sampled_from("abcdefgh"),
    st.integers(0, 400),
    st.integers(0, 30).map(float),
    st.floats(0.0, 4.0, width=32),
)
logs = st.dictionaries(
    st.text("qrstuv", min_size=1, max_size=3),
    st.tuples(st.floats(0.7, 1.0), st.lists(records, max_size=12)),
    max_size=6,
)


def by_hand(
    log: dict[str, tuple[float, list[Record]]], settings: ClickSettings, temperature: float, half_life: float
) -> tuple[dict[str, float], dict[str, tuple[float, int]]]:
    """Σ_i softmax(similarity / temperature)_i · weight(q_i, d); and each query's share and documents."""
    clicks: dict[str, dict[str, float]] = {}
    expected: dict[str, dict[str, float]] = {}
    for query, (_, many) in log.items():
        clicks[query], expected[query] = defaultdict(float), defaultdict(float)
        for record in many:
            faded = 0.5 ** (record.age_days / half_life)
            clicks[query][record.doc] += record.clicks * faded
            expected[query][record.doc] += record.expected * faded
    rel = {query: {doc for doc, value in clicks[query].items() if value > 0} for query in log}
    powers = {query: math.exp(log[query][0] / temperature) for query in log if rel[query]}
    scores: dict[str, float] = defaultdict(float)
    for query, power in powers.items():
        for doc in rel[query]:
            x = clicks[query][doc] / (expected[query][doc] + settings.smoothing)
            weight = {
                "relevant": 1.0,
                "share": clicks[query][doc] / max(clicks[query].values()),
                "expected": x / (1.0 + x),
            }[settings.weighting]
            scores[doc] += power / sum(powers.values()) * weight
    shares = {query: (power / sum(powers.values()), len(rel[query])) for query, power in powers.items()}
    return scores, shares


@given(
    logs,
    st.sampled_from(WEIGHTINGS),
    st.sampled_from([None, 0.02, 1.0]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from([1.0, 90.0]),
)
def test_scores_are_those_of_the_formula(
    log: dict[str, tuple[float, list[Record]]],
    weighting: str,
    temperature: float | None,
    smoothing: float,
    half_life: float,
) -> None:
    asked = lookup(weighting=weighting, temperature=temperature, smoothing=smoothing)
    queries = [past(text, similarity) for text, (similarity, _) in log.items()]
    strings = [b"".join(record.packed() for record in many) or None for _, many in log.values()]
    got = gather(queries, strings, asked, now=NOW, half_life_days=half_life)
    scores, shares = by_hand(log, asked.settings, temperature or 0.05, half_life)
    named = dict(zip(got.docs, got.scores, strict=True))
    # a weight of 1e-400 of them isn't any
    assert named.keys() >= {doc_hash(doc) for doc, score in scores.items() if score > 1e-300}
    assert named == pytest.approx({doc_hash(doc): scores[doc] for doc in scores if doc_hash(doc) in named})
    assert got.scores == sorted(got.scores, reverse=True)
    assert {q.text: (q.weight, q.documents) for q in got.queries} == {
        query: (pytest.approx(share), documents) for query, (share, documents) in shares.items()
    }
    assert [q.similarity for q in got.queries] == sorted((q.similarity for q in got.queries), reverse=True)


def test_a_query_without_clicks_takes_no_share() -> None:
    shown, clicked = Record("a", 0, 0.0, 1.0).packed(), Record("b", 0, 2.0, 0.0).packed()
    queries = [past("x", 0.99), past("y", 0.98), past("z", 0.9)]
    got = gather(queries, [shown, None, clicked], lookup(), now=NOW, half_life_days=90)
    assert got.queries == (SimilarQuery("z", 0.9, 1.0, 1),)
    assert (got.docs, got.scores) == ([doc_hash("b")], [1.0])


def test_no_past_query_gives_nothing() -> None:
    assert gather([], [], lookup(), now=NOW, half_life_days=90) == ((), [], [])


def test_at_most_so_many_candidates_the_best_first() -> None:
    string = b"".join(Record(doc, 0, clicks, 0.0).packed() for doc, clicks in [("a", 1), ("b", 3), ("c", 2)])
    got = gather([past("x")], [string], lookup(candidates=2), now=NOW, half_life_days=90)
    assert (got.docs, got.scores) == ([doc_hash("b"), doc_hash("c")], [1.0, pytest.approx(2 / 3)])
