"""What is drawn from trials: diseases in common, minibatches, views."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.train

NAMES = ("title", "intervention", "condition", "outcome", "context")


def test_names_of_one_disease_have_one_key() -> None:
    from trifuse.encoder.training.trial2vec.examples import TrialParts, disease_key, disease_keys

    assert disease_key("Breast Neoplasms") == disease_key("cancer of the breast") == "breast cancer"
    assert disease_key("  -- ") == ""
    named = TrialParts("NCT1", {"condition": "Asthma; Breast Cancer"})
    assert disease_keys(named) == {"asthma", "breast cancer"}
    assert disease_keys(named._replace(conditions=("Asthma, Breast Cancer",))) == {"asthma breast cancer"}
    assert disease_keys(TrialParts("NCT2", {"title": "A trial"})) == frozenset()


def test_a_mate_has_a_disease_in_common_and_is_another_trial() -> None:
    from trifuse.encoder.training.trial2vec.examples import Diseases

    keys = [{"asthma"}, {"gout"}, {"asthma", "gout"}, {"rare"}, set(), {"asthma"}]
    diseases = Diseases([frozenset(each) for each in keys])
    chance = np.random.default_rng(0)
    drawn = [{diseases.mate(trial, chance) for _ in range(99)} for trial in range(6)]
    assert drawn == [{2, 5}, {2}, {0, 1, 5}, {None}, {None}, {0, 2}]


def test_who_shares_a_disease() -> None:
    from trifuse.encoder.training.trial2vec.examples import Diseases

    diseases = Diseases([frozenset(each) for each in ({"a"}, {"b"}, {"a", "b"}, set())])
    expected = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]  # of trials 0, 2, 1, 3
    assert diseases.shared(np.array([0, 2, 1, 3])).astype(int).tolist() == expected


def test_every_trial_comes_once_a_round() -> None:
    from itertools import islice

    from trifuse.encoder.training.trial2vec.examples import minibatches

    drawn = [batch.tolist() for batch in islice(minibatches(7, 3, 0), 4)]
    for round_ in (drawn[:2], drawn[2:]):
        assert len({trial for batch in round_ for trial in batch}) == 6  # the seventh waits
    assert drawn[:2] != drawn[2:]
    assert drawn == [batch.tolist() for batch in islice(minibatches(7, 3, 0), 4)]
    assert drawn != [batch.tolist() for batch in islice(minibatches(7, 3, 1), 4)]


def test_two_views_share_no_part_and_the_disease_stands_against_the_title() -> None:
    from trifuse.encoder.training.trial2vec.examples import two_views

    present = np.ones((200, 5), dtype=bool)
    first, second = two_views(present, NAMES, "context", np.random.default_rng(0))
    assert (first ^ second).all()
    assert (first[:, 0] == first[:, 4]).all()
    assert (first[:, 0] != first[:, 2]).all()
    for column in range(5):
        assert 60 < first[:, column].sum() < 140  # 100 by chance
    assert not (first[:, 1] == first[:, 3]).all()


def test_a_trial_with_one_part_is_whole_in_both_views() -> None:
    from trifuse.encoder.training.trial2vec.examples import dropped, two_views

    present = np.zeros((20, 5), dtype=bool)
    present[:10, 0] = True  # the other ten have nothing
    for view in (*two_views(present, NAMES, "context", np.random.default_rng(0)),):
        assert (view == present).all()
    assert (dropped(present, 0.9, np.random.default_rng(0)) == present).all()


def test_dropout_leaves_one_part_at_least() -> None:
    from trifuse.encoder.training.trial2vec.examples import dropped

    present = np.ones((1000, 5), dtype=bool)
    stays = dropped(present, 0.3, np.random.default_rng(0))
    assert 0.65 < stays.mean() < 0.75
    rarely = dropped(present, 0.999, np.random.default_rng(0))
    assert (rarely.sum(axis=1) >= 1).all()
    assert set(rarely.argmax(axis=1).tolist()) == {0, 1, 2, 3, 4}  # not always the same one
    assert (dropped(present, 0.0, np.random.default_rng(0)) == present).all()
