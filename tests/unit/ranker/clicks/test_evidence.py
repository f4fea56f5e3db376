"""Evidence against a plain reading of its formula, with and without support of the other legs."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.clicks.evidence import ClickEvidence, Clicks, SimilarQuery
from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.past_queries import query_id
from trifuse.ranker.clicks.records import doc_hash, pack
from trifuse.ranker.clicks.settings import WEIGHTINGS, ClickSettings

DAY = 86_400
NOW = 1_750_000_000.0


def past(text: str, similarity: float = 1.0) -> PastQuery:
    return PastQuery(query_id(text), text, similarity)


def lookup(*, leave_one_out: bool = False, **settings: object) -> Lookup:
    """A lookup of shares without doubt or support, unless they are given."""
    plain = {"weighting": "share", "doubt": -1e9, "support": 0.0}
    said = ClickSettings(**(plain | settings))  # type: ignore[arg-type]
    return Lookup(past("asthma"), "cosine", said, leave_one_out)


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


Log = dict[str, tuple[float, list[Record]]]
Pairs = dict[str, dict[str, float]]


def read(log: Log, asked: Lookup, half_life: float = 90.0) -> ClickEvidence:
    """The evidence of a log, all of whose documents are known by name."""
    queries = [past(text, similarity) for text, (similarity, _) in log.items()]
    strings = [b"".join(record.packed() for record in many) or None for _, many in log.values()]
    clicks = Clicks.read(asked, queries, strings, half_life_days=half_life)
    ids = {doc_hash(doc): doc for doc in "abcdefgh"}
    pool = clicks.pool()
    clicks = clicks.named(pool, [ids[each] for each in clicks.hashes(pool)])
    shares = clicks.shares()
    return ClickEvidence(clicks.scores(shares), clicks.queries(shares), clicks=clicks)


def worth(log: Log, settings: ClickSettings, half_life: float) -> Pairs:
    """weight(q, d) of every past query and document clicked for it."""
    found: Pairs = {}
    for query, (_, many) in log.items():
        clicks: dict[str, float] = defaultdict(float)
        expected: dict[str, float] = defaultdict(float)
        youngest = min((record.age_days for record in many), default=0)
        for record in many:
            faded = 0.5 ** ((record.age_days - youngest) / half_life)
            clicks[record.doc] += record.clicks * faded
            expected[record.doc] += record.expected * faded
        rel = [doc for doc, value in clicks.items() if value > 0]
        most = max(clicks.values(), default=0.0)
        for doc in rel:
            chance = expected[doc] + math.sqrt(expected[doc]) + min(1.0, most / 10)
            over = max(0.0, clicks[doc] - chance) / (clicks[doc] + settings.smoothing * most)
            weight = {"relevant": 1.0, "share": clicks[doc] / most, "expected": over}[settings.weighting]
            if weight > 0:
                found.setdefault(query, {})[doc] = weight
    return found


def shares_of(similarities: dict[str, float], temperature: float, doubt: float) -> dict[str, float]:
    powers = {query: math.exp(value / temperature) for query, value in similarities.items()}
    total = sum(powers.values()) + math.exp(doubt / temperature)
    return {query: power / total for query, power in powers.items()}


def check(got: ClickEvidence, pairs: Pairs, shares: dict[str, float]) -> None:
    """Σ_i share_i · weight(q_i, d) are the scores, and the shares those of the queries."""
    scores: dict[str, float] = defaultdict(float)
    for query, docs in pairs.items():
        for doc, weight in docs.items():
            scores[doc] += shares[query] * weight
    wanted = {doc: score for doc, score in scores.items() if score > 1e-300}  # 1e-400 is none
    assert {doc: score for doc, score in got.scores.items() if doc in wanted} == pytest.approx(wanted)
    assert len(got.scores) <= len(scores)
    assert list(got.scores) == sorted(got.scores, key=lambda doc: (-got.scores[doc], doc))
    assert {q.text: (q.weight, q.documents) for q in got.queries} == {
        query: (pytest.approx(shares[query]), len(pairs[query])) for query in pairs
    }
    assert [q.similarity for q in got.queries] == sorted((q.similarity for q in got.queries), reverse=True)


@given(
    logs,
    st.sampled_from(WEIGHTINGS),
    st.sampled_from([None, 0.02, 1.0]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from([1.0, 90.0]),
    st.sampled_from([-1e9, 0.85, 1.0]),
)
def test_scores_are_those_of_the_formula(
    log: Log,
    weighting: str,
    temperature: float | None,
    smoothing: float,
    half_life: float,
    doubt: float,
) -> None:
    asked = lookup(weighting=weighting, temperature=temperature, smoothing=smoothing, doubt=doubt)
    pairs = worth(log, asked.settings, half_life)
    shares = shares_of({query: log[query][0] for query in pairs}, temperature or 0.05, doubt)
    check(read(log, asked, half_life), pairs, shares)


@given(
    logs,
    st.dictionaries(st.sampled_from("abcdefghijk"), st.floats(0.0, 1.0), max_size=8),
    st.sampled_from([0.3, 1.0, 5.0]),
    st.sampled_from([-1e9, 0.8]),
)
def test_support_raises_the_similarity_of_queries_whose_documents_the_other_legs_find(
    log: Log, found: dict[str, float], support: float, doubt: float
) -> None:
    asked = lookup(support=support, doubt=doubt)
    pairs = worth(log, asked.settings, 90.0)
    raised = {}
    for query, docs in pairs.items():
        total = sum(found.get(doc, 0.0) ** 2 for doc in docs)
        raised[query] = log[query][0] + support * total / (len(docs) + 3)
    # what doubt leaves goes by the raised similarities
    believed = sum(shares_of({query: log[query][0] for query in pairs}, 0.05, doubt).values())
    shares = (
        {query: believed * share for query, share in shares_of(raised, 0.05, -1e9).items()} if pairs else {}
    )
    check(read(log, asked).supported(found), pairs, shares)


def test_support_moves_no_share_to_or_from_doubt() -> None:
    """Past queries at 0.55 against a doubt of 0.8 stay at 1 / (1 + e^5), however well their documents do."""
    log: Log = {"x": (0.55, [Record("a", 0, 1.0, 0.0)])}
    got = read(log, lookup(support=5.0, doubt=0.8)).supported({"a": 1.0})
    assert got.scores == {"a": pytest.approx(1 / (1 + math.exp(5)))}


def test_without_support_or_other_legs_nothing_changes() -> None:
    log: Log = {"x": (0.9, [Record("a", 0, 1.0, 0.0)]), "y": (0.8, [Record("b", 0, 1.0, 0.0)])}
    off, on = read(log, lookup()), read(log, lookup(support=1.0))
    assert off.supported({"a": 1.0}) is off
    assert on.supported({}) is on
    assert on.supported({"unheard of": 1.0}) == on == off
    assert ClickEvidence().supported({"a": 1.0}) == ClickEvidence()


def test_support_can_lift_a_document_that_was_just_below_the_candidates() -> None:
    log: Log = {doc: (0.9, [Record(doc, 0, 1.0, 0.0)]) for doc in "abcd"}
    got = read(log, lookup(support=10.0, candidates=2))
    assert len(got.scores) == 2
    assert got.clicks is not None
    pool = set(got.clicks.names.values())
    assert len(pool) == 4
    (lifted,) = sorted(pool - set(got.scores))[:1]
    assert next(iter(got.supported({lifted: 1.0}).scores)) == lifted


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=200), st.binary(max_size=5).map(lambda b: 40 * b))),
    st.sampled_from(WEIGHTINGS),
    st.dictionaries(st.text(max_size=3), st.floats(0.0, 1.0), max_size=3),
)
def test_whatever_bytes_are_kept_scores_are_scores(
    strings: list[bytes | None], weighting: str, found: dict[str, float]
) -> None:
    asked = lookup(weighting=weighting, support=1.0)
    queries = [past(f"q{place}", 0.9) for place in range(len(strings))]
    clicks = Clicks.read(asked, queries, strings, half_life_days=90)
    pool = clicks.pool()
    clicks = clicks.named(pool, [doc.hex() for doc in clicks.hashes(pool)])
    for shares in (clicks.shares(), clicks.shares(clicks.support(found))):
        assert all(0.0 < score <= 1.0 + 1e-9 for score in clicks.scores(shares).values())
        assert len(clicks.past) == len(shares)
        assert len(shares) == 0 or shares.sum() == pytest.approx(1.0)


def test_a_query_without_clicks_takes_no_share() -> None:
    log: Log = {
        "x": (0.99, [Record("a", 0, 0.0, 1.0)]),
        "y": (0.98, []),
        "z": (0.9, [Record("b", 0, 2.0, 0.0)]),
    }
    got = read(log, lookup())
    assert got.queries == (SimilarQuery("z", 0.9, 1.0, 1),)
    assert got.scores == {"b": 1.0}


def test_no_past_query_gives_nothing() -> None:
    got = read({}, lookup(support=1.0))
    assert (got.scores, got.queries) == ({}, ())
    assert got.supported({"a": 1.0}) == got


def test_at_most_so_many_candidates_the_best_first() -> None:
    log: Log = {"x": (0.9, [Record("a", 0, 1, 0.0), Record("b", 0, 3, 0.0), Record("c", 0, 2, 0.0)])}
    assert read(log, lookup(candidates=2)).scores == {"b": 1.0, "c": pytest.approx(2 / 3)}


def test_documents_without_a_name_are_left_out() -> None:
    strings = [Record("a", 0, 3.0, 0.0).packed() + Record("b", 0, 1.0, 0.0).packed()]
    clicks = Clicks.read(lookup(), [past("x")], strings, half_life_days=90)
    pool = clicks.pool()
    assert clicks.hashes(pool) == [doc_hash("a"), doc_hash("b")]
    named = clicks.named(pool, [None, "b"])
    assert named.scores(named.shares()) == {"b": pytest.approx(1 / 3)}
