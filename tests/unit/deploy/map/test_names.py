"""Names of clusters, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trifuse.deploy.map.names import _name, _weights, cluster_names


def test_weights_by_hand() -> None:
    """Two clusters of 4 and 2 documents; terms: one of the first alone, one of both, one of the second.

    6 + 3 mentions: A = 4.5. The common term is in 2 of 4 and in 1 of 2: no more often in either.
    """
    within = np.array([[4, 2, 0], [0, 1, 2]])
    found = _weights(within, np.array([[4], [2]]))
    assert found == pytest.approx(
        np.array([[4 * math.log(1 + 4.5 / 4), 0, 0], [0, 0, 2 * math.log(1 + 4.5 / 2)]])
    )


def test_a_pair_of_words_rather_than_its_parts() -> None:
    """The pair of 8 is at least 3/4 of 9 and of 7; what shares a word with it is left out."""
    terms = ["breast", "breast cancer", "cancer", "her2", "metastatic breast", "trastuzumab"]
    assert _name(terms, np.array([9.0, 8, 7, 6, 5, 4]), 0) == "breast cancer, her2, trastuzumab"
    assert _name(["asthma", "asthma study"], np.array([9.0, 6.7]), 0) == "asthma"


def test_clusters_are_named_by_what_sets_them_apart() -> None:
    pytest.importorskip("sklearn")
    texts = ["Asthma", "the asthma", "Asthma study", "stroke", "Stroke study"]
    assert cluster_names(texts, np.array([0, 0, 0, 1, 1])) == ["asthma", "stroke"]


def test_clusters_without_any_word_have_numbers() -> None:
    pytest.importorskip("sklearn")
    assert cluster_names(["", "12 34", "the"], np.array([0, 1, 1])) == ["cluster 0", "cluster 1"]


def test_a_cluster_that_nothing_sets_apart_has_its_number() -> None:
    pytest.importorskip("sklearn")
    assert cluster_names(["asthma", "asthma"], np.array([0, 1])) == ["cluster 0", "cluster 1"]
