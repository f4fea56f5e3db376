"""Measures of aspect-controlled retrieval, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.aspects import (
    AskedDocument,
    AspectEvaluation,
    Share,
    evaluate_aspects,
    first_of,
    mean_and_sd,
)
from trifuse.ranker.evaluation.significance import bootstrap_ci, bootstrap_ratio_ci

PIO = ("population", "intervention", "outcome")
N: frozenset[str] = frozenset()
P, I, O, C = (frozenset({name}) for name in (*PIO, "comparator"))  # noqa: E741


def _document(aspects: list[frozenset[str]], *first: int) -> AskedDocument:
    """Which sentence came first for population, intervention and outcome."""
    return AskedDocument(aspects, dict(zip(PIO, first, strict=True)))


def _evaluated(*documents: AskedDocument) -> AspectEvaluation:
    return evaluate_aspects(documents, PIO, resamples=200)


def _percents(found: AspectEvaluation) -> list[float | None]:
    scores = found.scores
    return [scores.top1.percent, scores.specific.percent, scores.switching.percent]


def test_every_request_answered_by_its_own_sentence() -> None:
    found = _evaluated(_document([N, P, I, O], 1, 2, 3))
    assert _percents(found) == [100, 100, 100]
    assert (found.scores.top1.of, found.scores.specific.of, found.scores.switching.of) == (3, 3, 3)
    assert (found.documents, found.pair_documents, found.without_candidates) == (1, 1, 0)


def test_a_sentence_of_several_aspects_counts_for_top1_alone() -> None:
    """The same sentence comes first for all three: every request is answered, none by what it alone asked."""
    found = _evaluated(_document([P | I | O, P, I, O], 0, 0, 0))
    assert _percents(found) == [100, 0, 0]
    assert found.scores.possible.percent == 100


def test_aspects_that_are_not_asked_for_count_where_they_are_named() -> None:
    """A comparator beside an intervention, and a comparator alone."""
    document = AskedDocument([C | I, C], {"comparator": 0})
    assert evaluate_aspects([document], ["comparator"], resamples=10).scores.specific.percent == 100
    beside = evaluate_aspects([document], ["comparator"], beside=PIO, resamples=10).scores
    assert (beside.top1.percent, beside.specific.percent, beside.possible.percent) == (100, 0, 100)


def test_both_requests_of_a_pair_must_be_right() -> None:
    """Population and outcome are, intervention gets outcome's sentence: one of three pairs switches."""
    found = _evaluated(_document([P, I, O], 0, 2, 2))
    assert found.scores.top1.percent == pytest.approx(200 / 3)
    assert found.scores.specific.percent == pytest.approx(200 / 3)
    assert found.scores.switching.percent == pytest.approx(100 / 3)


def test_a_pair_is_eligible_where_both_aspects_have_a_sentence_of_their_own() -> None:
    """Intervention stands beside outcome only: of the pairs, population and outcome is left."""
    found = _evaluated(_document([P, I | O, O], 0, 1, 2))
    assert _percents(found) == [100, pytest.approx(200 / 3), 100]
    assert (found.scores.switching.of, found.pair_documents) == (1, 1)
    assert found.scores.possible.percent == pytest.approx(200 / 3)
    assert found.per_aspect["intervention"].switching == Share(None, None, 0)


def test_a_document_that_lacks_an_aspect_fails_that_request() -> None:
    """Of two documents with three requests each, the second has nothing but a population."""
    found = _evaluated(_document([P, I, O], 0, 1, 2), _document([N, P], 1, 0, 1))
    assert found.scores.top1.percent == pytest.approx(100 * 4 / 6)
    assert found.scores.specific.percent == pytest.approx(100 * 4 / 6)
    assert found.scores.switching == Share(100.0, (100.0, 100.0), 3)
    assert found.pair_documents == 1
    assert [found.per_aspect[aspect].top1.percent for aspect in PIO] == [100, 50, 50]
    assert [found.per_aspect[aspect].possible.percent for aspect in PIO] == [100, 50, 50]


def test_per_aspect_switching_is_of_the_pairs_with_that_aspect() -> None:
    """Intervention is wrong: the pair of population and outcome switches, the two with intervention don't."""
    found = _evaluated(_document([P, I, O], 0, 0, 2))
    by_aspect = {aspect: found.per_aspect[aspect].switching for aspect in PIO}
    assert {aspect: (share.percent, share.of) for aspect, share in by_aspect.items()} == {
        "population": (50, 2),
        "intervention": (0, 2),
        "outcome": (50, 2),
    }


def test_an_aspect_that_was_not_asked_for_takes_nothing_from_the_others() -> None:
    found = _evaluated(_document([P | C, I, O], 0, 1, 2))
    assert _percents(found) == [100, 100, 100]


def test_documents_without_candidates_are_counted_and_left_out() -> None:
    found = _evaluated(AskedDocument([], {}), _document([P, I, O], 0, 1, 2))
    assert (found.documents, found.without_candidates) == (1, 1)
    assert found.scores.top1.of == 3
    with pytest.raises(NothingToEvaluate, match="none of 1 documents"):
        _evaluated(AskedDocument([], {}))


def test_equal_scores_are_ranked_in_reading_order() -> None:
    assert first_of([0.5, 0.5, 0.5]) == 0
    assert first_of([0.25, 0.5, 0.5]) == 1
    assert first_of(np.array([-1.0, -0.5], dtype=np.float32).tolist()) == 1


def test_intervals_are_over_documents() -> None:
    """One document's requests all succeed, the other's all fail: samples of two have 0, 50 or 100 %."""
    found = _evaluated(_document([P, I, O], 0, 1, 2), _document([N, P, I, O], 0, 0, 0))
    assert found.scores.top1 == Share(50.0, (0.0, 100.0), 6)


def test_shares_are_means_over_seeds() -> None:
    """One seed gets all three of the first document, the other none; both get one of the second: 5 of 12."""
    sentences = [P, I, O, N]
    one = [_document(sentences, 0, 1, 2), _document(sentences, 0, 3, 3)]
    two = [_document(sentences, 3, 3, 3), _document(sentences, 3, 1, 3)]
    found = evaluate_aspects(one, PIO, other_seeds=[two], resamples=200)
    assert found.scores.top1.percent == pytest.approx(500 / 12)
    assert found.scores.top1.of == 6
    assert found.scores.top1.ci95 == (pytest.approx(100 / 3), 50.0)  # the second alone, the first alone
    assert found.scores.switching.percent == pytest.approx(25)  # three of six by one seed
    assert (found.documents, found.pair_documents) == (2, 2)


def test_a_ratio_weighs_units_by_their_cases() -> None:
    """One of one and one of three: 2/4, between the worst sample's 1/3 and the best one's 1."""
    low, high = bootstrap_ratio_ci(np.array([1.0, 1.0]), np.array([1.0, 3.0]), resamples=500)
    assert (low, high) == (pytest.approx(1 / 3), 1.0)
    assert bootstrap_ratio_ci(np.array([1.0, 0.0]), np.array([1.0, 0.0]), resamples=500) == (1.0, 1.0)
    values = [0.1, 0.4, 0.9, 0.2]
    assert bootstrap_ci(values) == bootstrap_ratio_ci(np.array(values), np.ones(4))


def test_mean_and_deviation_over_seeds() -> None:
    """Deviations from 6: -2, 0, 2; the squares sum to 8, over 3 - 1 that is 4."""
    assert mean_and_sd([Share(4.0, None, 9), Share(6.0, None, 9), Share(8.0, None, 9)]) == (6.0, 2.0)
    assert mean_and_sd([Share(4.0, None, 9)]) == (4.0, 0.0)
    assert mean_and_sd([Share(4.0, None, 9), Share(None, None, 0)]) is None
    assert mean_and_sd([]) is None
