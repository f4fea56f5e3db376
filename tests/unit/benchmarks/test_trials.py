"""What trials.py and trials_tune.py compute apart from any server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trials_bodies import PLAIN, telling_words
from trials_data import Topics, read_topics
from trials_profiles import FILE, compared_profiles
from trials_server import MEANS, SETTINGS, combined, normalized, server_values
from trials_tune import Choice, held_out

from trifuse.ranker import Profile
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.tuning import CollectedQuery, Measure, Setting
from trifuse.ranker.types import Key


def test_judgements_of_trials_that_are_not_here_are_left_out() -> None:
    topics = Topics({"p": "a note"}, {"p": {"NCT1": 2, "NCT2": 1}, "q": {"NCT2": 1}})
    assert topics.over(["NCT1"]).qrels == {"p": {"NCT1": 2}, "q": {}}


def test_files_are_looked_for_beside_the_topics_and_at_their_path(tmp_path: Path) -> None:
    folder = tmp_path / "trialgpt_qrels"
    folder.mkdir()
    (folder / "some.jsonl").write_text('{"_id": "p", "text": "a note"}\n')
    (tmp_path / "mine.tsv").write_text("query-id\tcorpus-id\tscore\np\tNCT1\t2\n")
    topics = read_topics(tmp_path, "some.jsonl", str(tmp_path / "mine.tsv"))
    assert topics == Topics({"p": "a note"}, {"p": {"NCT1": 2}})


def test_a_body_asks_each_field_for_trials_that_are_like_the_note() -> None:
    filled = fill_template(telling_words(0.5, 2.0), "the note")
    clauses = [clause["more_like_this"] for clause in filled["query"]["bool"]["should"]]
    assert {each["fields"][0]: each["boost"] for each in clauses} == {
        "brief_title": 0.5,
        "conditions": 0.5,
        "keywords": 0.5,
        "condition_mesh": 0.5,
        "brief_summary": 1.0,
        "detailed_description": 1.0,
        "inclusion_criteria": 2.0,
    }
    assert {each["like"] for each in clauses} == {"the note"}


def test_the_profiles_that_are_compared() -> None:
    profiles = compared_profiles()
    assert list(profiles) == ["bm25", "dense", "hybrid", "tuned", "server", "server, plain body"]
    assert profiles["bm25"].weights == {"lexical": 1.0, "dense": 0.0, "clicks": 0.0}
    assert profiles["tuned"].execution == "client"
    for name, body in (("server", profiles["tuned"].body), ("server, plain body", PLAIN)):
        assert (profiles[name].execution, profiles[name].body, profiles[name].depth) == ("native", body, 100)
    assert json.loads(FILE.read_text()).keys() == {"tuned", "server", "server, plain body"}


def test_the_server_has_66_settings() -> None:
    assert len(set(SETTINGS)) == 66
    assert {setting.mean for setting in SETTINGS} == set(MEANS)
    profile = SETTINGS[-1].profile("server", PLAIN)
    assert profile.weights == {"lexical": 0.0, "dense": 1.0, "clicks": 0.0}


@pytest.mark.parametrize(
    ("scores", "name", "expected"),
    [
        ([5.0, 3.0, 1.0], "min_max", [1.0, 0.5, 0.001]),
        ([7.2], "min_max", [1.0]),
        ([2.0, 2.0], "min_max", [1.0, 1.0]),
        ([4.0, 3.0], "l2", [0.8, 0.6]),
        ([], "l2", []),
    ],
)
def test_what_the_server_makes_of_raw_scores(scores: list[float], name: str, expected: list[float]) -> None:
    assert normalized(np.array(scores), name) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        ("arithmetic_mean", [0.75 * 0.4 + 0.25 * 0.9, 0.75 * 0.8, 0.25 * 0.6]),
        ("geometric_mean", [0.4**0.75 * 0.9**0.25, 0.8, 0.6]),
        ("harmonic_mean", [1 / (0.75 / 0.4 + 0.25 / 0.9), 0.8, 0.6]),
    ],
)
def test_a_leg_without_the_document_is_0_to_one_mean_and_nothing_to_the_others(
    mean: str, expected: list[float]
) -> None:
    table = np.array([[0.4, 0.8, 0.0], [0.9, 0.0, 0.6]])
    assert combined(table, np.array([0.75, 0.25]), mean) == pytest.approx(expected)


def query(lexical: dict[str, float], dense: dict[str, float]) -> CollectedQuery:
    def pairs(scores: dict[str, float]) -> list[tuple[Key, float]]:
        return [(Key(id, "trials"), score) for id, score in scores.items()]

    return CollectedQuery.of("a note", {"lexical": pairs(lexical), "dense": pairs(dense)})


def test_what_each_of_the_servers_settings_is_worth() -> None:
    """By min_max and arithmetic mean, `A` is first until the dense leg, where `B` is best, weighs more."""
    found = query({"A": 3.0, "B": 1.0}, {"B": 0.9, "A": 0.7})
    values = server_values(found, {"B": 1}, Measure.parse("RR"))
    by_weight = dict(zip(SETTINGS, values.tolist(), strict=True))
    row = {s.dense: v for s, v in by_weight.items() if s[:2] == ("min_max", "arithmetic_mean")}
    assert row[0.0] == row[0.4] == 0.5
    assert row[0.6] == row[1.0] == 1.0


def test_a_document_of_one_leg_alone_is_no_hit_where_that_leg_weighs_nothing() -> None:
    values = server_values(query({"A": 3.0}, {"B": 0.9}), {"B": 1}, Measure.parse("RR"))
    lexical_alone = [v for s, v in zip(SETTINGS, values.tolist(), strict=True) if s.dense == 0.0]
    assert lexical_alone == [0.0] * 6


def test_held_out_is_chosen_without_the_query() -> None:
    """Leave-one-out: without query 0 choice 1 is the best (0.6 to 0.4), without 1 too, without 2 choice 0."""
    values = np.array([[0.9, 0.8, 0.0], [0.1, 0.2, 1.0]])
    assert held_out(values, folds=3, seeds=1).tolist() == [0.1, 0.2, 0.0]


def test_a_choice_is_a_profile_that_serves(tmp_path: Path) -> None:
    setting = Setting(0.4, 0.0, "min_max", "weighted_sum", 60, 1000)
    profile: Any = Choice(0.5, 2.0, setting).profile()
    assert profile.body == telling_words(0.5, 2.0)
    assert (profile.name, profile.depth) == ("tuned", 1000)
    assert profile.weights == {"lexical": 0.6, "dense": 0.4, "clicks": 0.0}
    assert Profile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile
