"""Click evidence for a query: what similar past queries were clicked for, within a time budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.spaces import EncoderSpace
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.past_queries import queries_index, query_id
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.store import ClickStore

NOW = 1.75e9
DAY = 86_400
QUERY = np.array([1.0, 0.0, 0.0], np.float32)
PLAIN = ClickSettings(weighting="share", doubt=-1e9)
NEAR = ClickSettings(weighting="share", temperature=0.1, min_similarity=0.75, doubt=-1e9)
Keep = Callable[..., None]


class Store(ClickStore):
    """Looks up shares of clicks without doubt, unless told otherwise, so that scores go up to 1."""

    def lookup(self, *args: Any, **given: Any) -> ClickEvidence:
        return super().lookup(*args, **{"settings": PLAIN} | given)


@pytest.fixture
def store(client: OpenSearch, redis_client: Redis) -> Store:
    return Store(redis_client, client)


# --- the same query ---


def test_the_same_query_alone(store: ClickStore, index: str, keep: Keep) -> None:
    keep("Asthma", {"d1": 4})
    keep("asthma", {"d2": 1})
    keep("copd", {"d3": 9})
    evidence = store.lookup(index, " ASTHMA? ", budget_s=5)
    assert evidence.scores == pytest.approx({"d1": 1.0, "d2": 0.25})
    assert [(q.text, q.similarity, q.weight, q.documents) for q in evidence.queries] == [
        ("asthma", 1.0, 1.0, 2)
    ]
    assert evidence.state == "partial"
    assert evidence.reason is not None
    assert "no vector" in evidence.reason
    assert 0 < evidence.took_ms < 5000


def test_the_same_query_counts_before_it_has_a_vector(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    keep("near", {"d2": 1}, [0.96, 0.28, 0.0])
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5, settings=NEAR)
    assert [q.text for q in evidence.queries] == ["asthma", "near"]
    one = ClickSettings(weighting="share", doubt=-1e9, m=1)
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5, settings=one)
    assert [q.text for q in evidence.queries] == ["asthma"]


def test_a_query_that_few_made_gives_nothing_itself(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1}, public=False)
    keep("near", {"d2": 1}, [0.96, 0.28, 0.0])
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert (evidence.scores, evidence.state) == ({"d2": 1.0}, "ok")
    assert store.lookup(index, "asthma", budget_s=5).scores == {}


@pytest.mark.parametrize(("clicks", "segment"), [(5, "TAIL"), (6, "TORSO"), (44, "TORSO"), (45, "HEAD")])
def test_frequency_and_segment_are_the_querys_own(
    store: ClickStore, index: str, keep: Keep, clicks: int, segment: str
) -> None:
    keep("asthma", {"d1": clicks})
    evidence = store.lookup(index, "asthma", budget_s=5)
    assert (evidence.frequency, evidence.segment) == (clicks, segment)
    unknown = store.lookup(index, "copd", budget_s=5)
    assert (unknown.frequency, unknown.segment) == (0, "TAIL")


# --- similar queries ---


def test_similar_queries_weigh_by_the_softmax_of_their_cosines(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    # cosines with (1, 0, 0): 0.96, 0.8 and 0.6; the floor is 0.75
    keep("near", {"d1": 2, "d2": 1}, [0.96, 0.28, 0.0])
    keep("far", {"d2": 1}, [0.8, 0.6, 0.0])
    keep("too far", {"d9": 1}, [0.6, 0.8, 0.0])
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=NEAR)
    near, far = math.exp(0.96 / 0.1), math.exp(0.8 / 0.1)
    share = near / (near + far)
    assert evidence.scores == pytest.approx({"d1": share, "d2": share / 2 + (1 - share)}, abs=1e-5)
    assert [q.text for q in evidence.queries] == ["near", "far"]
    assert [q.similarity for q in evidence.queries] == pytest.approx([0.96, 0.8], abs=1e-6)
    assert sum(q.weight for q in evidence.queries) == pytest.approx(1.0)
    assert (evidence.state, evidence.reason) == ("ok", None)


@pytest.mark.parametrize(
    ("weighting", "d1", "d2"),
    # Of both queries: 1 and 1; 4/4 + 0 and 1/4 + 1; less chance, (4 - 1 - 1 - .4) / (4 + .2 · 4) = 1/3, and
    # (1 - .4) / (1 + .2 · 4) = 1/3 and 0, as 1 + 1 + .2 clicks on d2 would be chance for the other query,
    # which then gives no evidence at all: the first has the whole share.
    [("relevant", 0.5, 1.0), ("share", 0.5, 0.625), ("expected", 1 / 3, 1 / 3)],
)
def test_what_a_clicked_document_is_worth(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep, weighting: str, d1: float, d2: float
) -> None:
    keep("one", {"d1": 4, "d2": 1, "d3": 0}, [0.96, 0.28, 0.0], expected={"d1": 1, "d3": 5})
    keep("other", {"d2": 2}, [0.96, -0.28, 0.0], expected={"d2": 1})
    settings = ClickSettings(doubt=-1e9, weighting=weighting)
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=settings)
    assert evidence.scores == pytest.approx({"d1": d1, "d2": d2}, abs=1e-6)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_a_log_of_twenty_queries_against_the_formula(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep, leave_one_out: bool
) -> None:
    rng = np.random.default_rng(4)
    points = np.add(rng.normal(size=(20, 3)), [2, 0, 0])
    vectors = {f"query {i}": point / np.linalg.norm(point) for i, point in enumerate(points)}
    clicks = {
        query: {f"d{doc}": int(rng.integers(1, 9)) for doc in rng.choice(10, 4, replace=False)}
        for query in vectors
    }
    for query, vector in vectors.items():
        keep(query, clicks[query], vector.tolist())
    settings = ClickSettings(weighting="share", doubt=-1e9, m=8, min_similarity=0.8, temperature=0.1)
    asked = "query 7"
    cosines = {query: float(vector @ vectors[asked]) for query, vector in vectors.items()}
    if leave_one_out:
        del cosines[asked]
    nearest = sorted(cosines, key=lambda query: -cosines[query])[:8]
    powers = {query: math.exp(cosines[query] / 0.1) for query in nearest if cosines[query] >= 0.8}
    scores: dict[str, float] = {}
    for query, power in powers.items():
        for doc, number in clicks[query].items():
            share = power / sum(powers.values()) * number / max(clicks[query].values())
            scores[doc] = scores.get(doc, 0.0) + share
    vector = vectors[asked].astype(np.float32)
    evidence = store.lookup(
        index, asked, vector, space=space, budget_s=5, settings=settings, leave_one_out=leave_one_out
    )
    assert 1 < len(powers) <= 8
    assert [query.text for query in evidence.queries] == list(powers)
    assert evidence.scores == pytest.approx(scores, abs=1e-5)
    assert evidence.frequency == sum(clicks[asked].values()) - leave_one_out


def test_a_log_that_has_grown_old_says_what_it_said(store: ClickStore, index: str, keep: Keep) -> None:
    """Eight old clicks are worth (8 - .8) / (8 + .2 · 8): a query's own newest record sets the time."""
    keep("asthma", {"d1": 8})
    settings = ClickSettings(doubt=-1e9, weighting="expected")
    assert store.lookup(index, "asthma", budget_s=5, settings=settings).scores == pytest.approx({"d1": 0.75})


def test_the_query_itself_counts_once_and_as_similarity_one(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1}, [1.0, 0.0, 0.0])
    keep("near", {"d2": 1}, [0.96, 0.28, 0.0])
    evidence = store.lookup(index, "Asthma", QUERY, space=space, budget_s=5, settings=NEAR)
    same = 1 / (1 + math.exp((0.96 - 1.0) / 0.1))
    assert evidence.scores == pytest.approx({"d1": same, "d2": 1 - same}, abs=1e-5)
    assert [q.text for q in evidence.queries] == ["asthma", "near"]


@pytest.mark.parametrize("vector", [[1.0, 0.0, 0.0], None])
def test_left_out_the_query_itself_gives_nothing(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep, vector: list[float] | None
) -> None:
    keep("asthma", {"d1": 45}, vector)
    keep("near", {"d2": 1}, [0.96, 0.28, 0.0])
    keep("next", {"d3": 1}, [0.9, 0.4, 0.0])
    settings = ClickSettings(weighting="share", doubt=-1e9, m=1)
    evidence = store.lookup(
        index, "Asthma ", QUERY, space=space, budget_s=5, settings=settings, leave_one_out=True
    )
    assert evidence.scores == {"d2": 1.0}
    assert (evidence.frequency, evidence.segment) == (44, "TORSO")
    assert store.lookup(index, "copd", budget_s=5, leave_one_out=True).frequency == 0


def test_a_share_of_the_log_is_used(store: ClickStore, index: str, space: EncoderSpace, keep: Keep) -> None:
    used, unused = [], []
    for i in range(12):
        keep(f"query {i}", {f"d{i}": 1}, [1.0, 0.01 * i, 0.0])
        half = int(query_id(f"query {i}")[:8], 16) < 2**31
        (used if half else unused).append(f"query {i}")
    assert used
    assert unused
    half = ClickSettings(weighting="share", doubt=-1e9, m=12, log_share=0.5)
    found = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=half)
    assert [q.text for q in found.queries] == used
    # as many as asked for, though others lie between
    some = ClickSettings(weighting="share", doubt=-1e9, m=3, log_share=0.5)
    found = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=some)
    assert [q.text for q in found.queries] == [query for query in used if int(query[6:]) < 6][:3]
    assert store.lookup(index, unused[0], budget_s=5, settings=half).scores == {}


def test_past_queries_of_another_space_give_nothing(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("near", {"d1": 1}, [1.0, 0.0, 0.0], encoder=replace(space, revision="0"))
    assert store.lookup(index, "never asked", QUERY, space=space, budget_s=5).scores == {}
    keep("near", {}, [1.0, 0.0, 0.0])
    assert store.lookup(index, "never asked", QUERY, space=space, budget_s=5).scores == {"d1": 1.0}


def test_inner_products_that_are_not_of_unit_norm(
    store: ClickStore, make_index: Callable[..., str], space: EncoderSpace, keep: Keep
) -> None:
    dot = replace(space, similarity="dot", normalized=False)
    index = make_index(dot)
    keep("asthma", {"d1": 1}, [3.0, 0.0, 0.0], encoder=dot)
    keep("near", {"d2": 1}, [2.5, 1.0, 0.0], encoder=dot)
    evidence = store.lookup(index, "asthma", np.array([3, 0, 0], np.float32), space=dot, budget_s=5)
    assert [(q.text, q.similarity) for q in evidence.queries] == [
        ("asthma", 9.0),
        ("near", pytest.approx(7.5, abs=1e-4)),
    ]
    assert evidence.scores["d2"] == pytest.approx(1 / (1 + math.exp(1.5)), abs=1e-4)


def test_the_defaults_follow_the_similarity_of_the_space(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("near", {"d1": 1}, [0.8, 0.6, 0.0])
    keep("far", {"d2": 1}, [0.75, math.sqrt(1 - 0.75**2), 0.0])
    found = store.lookup(index, "asked", QUERY, space=space, budget_s=5, settings=ClickSettings())
    # temperature 0.05, doubt 0.8: e^0 of doubt against e^0 and e^-1; the only click is worth (1 - .1) / 1.2
    total = 1 + 1 + 1 / math.e
    assert found.scores == pytest.approx({"d1": 0.75 / total, "d2": 0.75 / math.e / total}, abs=1e-4)


def test_at_most_m_queries_and_so_many_candidates(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    for i in range(4):
        keep(f"near {i}", {f"d{i}": 2, "d9": 1}, [1.0, 0.01 * i, 0.0])
    few = ClickSettings(weighting="share", doubt=-1e9, m=2, candidates=2)
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=few)
    assert [q.text for q in evidence.queries] == ["near 0", "near 1"]
    # d0 has the nearer query's weight, d9 a half of both, d1 the other's
    assert list(evidence.scores) == ["d0", "d9"]
    none = ClickSettings(weighting="share", doubt=-1e9, m=0)
    evidence = store.lookup(index, "near 3", QUERY, space=space, budget_s=5, settings=none)
    assert (evidence.state, [q.text for q in evidence.queries]) == ("ok", ["near 3"])


def test_ties_are_in_the_order_of_ids(store: ClickStore, index: str, keep: Keep) -> None:
    keep("asthma", {"d7": 1, "d2": 1, "d5": 1})
    assert list(store.lookup(index, "asthma", budget_s=5).scores) == ["d2", "d5", "d7"]


def test_no_past_queries_yet(store: ClickStore, index: str, space: EncoderSpace) -> None:
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.queries, evidence.state) == ({}, (), "partial")
    assert queries_index(index) in str(evidence.reason)


def test_a_vector_of_another_dimension_leaves_the_same_query(
    store: ClickStore, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1}, [1.0, 0.0, 0.0])
    evidence = store.lookup(index, "asthma", np.ones(5, np.float32), space=space, budget_s=5)
    assert (evidence.scores, evidence.state) == ({"d1": 1.0}, "partial")
    assert "400" in str(evidence.reason)


@pytest.mark.parametrize("text", ["", " ?! ", "x" * 10_240, "\ud800"])
def test_a_query_that_no_one_repeats_has_no_evidence(store: ClickStore, index: str, text: str) -> None:
    evidence = store.lookup(index, text, budget_s=5)
    assert (evidence.scores, evidence.state) == ({}, "ok")
    assert evidence.reason
