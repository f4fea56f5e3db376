"""TF-IDF and word vectors: words of the training texts alone, numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trifuse.deploy.outcome.texts import mutual_information, tfidf, word_vectors

pytest.importorskip("sklearn")


def test_words_of_other_parts_are_unknown() -> None:
    texts = ["asthma aspirin", "asthma pain", "stroke"]
    train = np.array([True, True, False])
    found = tfidf(texts, train)
    assert found.shape == (3, 3)
    assert found[[2]].sum() == 0
    assert not word_vectors(texts, train)[2].any()


def test_rows_have_unit_norm() -> None:
    texts = ["asthma aspirin asthma", "asthma pain", "pain aspirin"]
    everything = np.ones(3, dtype=bool)
    for rows in (tfidf(texts, everything).toarray(), word_vectors(texts, everything)):
        assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1])


def test_information_by_hand() -> None:
    """Texts 0 1 and 0 1 and 2 3: pairs 01 and 10 twice each, 23 and 32 once; 6 in all.

    01: 2 * 6 / (2 * 2) = 3; 23: 1 * 6 / (1 * 1) = 6.
    """
    found = mutual_information([np.array([0, 1]), np.array([0, 1]), np.array([2, 3])], 4).toarray()
    expected = np.zeros((4, 4))
    expected[[0, 1], [1, 0]] = math.log(3)
    expected[[2, 3], [3, 2]] = math.log(6)
    assert found == pytest.approx(expected)


def test_words_further_apart_than_five_places_arent_near() -> None:
    far = mutual_information([np.array([0, 2, 2, 2, 2, 2, 1])], 3).toarray()
    assert far[0, 1] == far[1, 0] == 0


def test_what_is_met_in_the_same_company_is_alike() -> None:
    """Aspirin and ibuprofen never meet, but both meet pain; insulin meets sugar."""
    texts = ["aspirin pain", "ibuprofen pain", "insulin sugar", "insulin sugar"]
    drugs = word_vectors(["aspirin", "ibuprofen", "insulin", *texts], np.array([False] * 3 + [True] * 4))[:3]
    alike = drugs @ drugs.T
    assert alike[0, 1] == pytest.approx(1, abs=1e-6)
    assert alike[0, 2] == pytest.approx(0, abs=1e-6)


def test_the_same_seed_gives_the_same_vectors() -> None:
    texts = [f"word{number % 7} other{number % 5} third{number % 3}" for number in range(30)]
    everything = np.ones(30, dtype=bool)
    assert word_vectors(texts, everything, seed=3) == pytest.approx(word_vectors(texts, everything, seed=3))
