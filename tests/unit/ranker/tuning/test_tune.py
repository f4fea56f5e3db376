"""Tuning from end to end, on queries whose best weights are known."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from rich.console import Console

from trifuse.ranker import Profile
from trifuse.ranker.errors import MeasureUnknown, NothingToEvaluate, ProfileError
from trifuse.ranker.tuning import Collected, CollectedQuery, Measure, Space, measure_profiles, tune
from trifuse.ranker.types import Key

DEPTH = 30
Qrels = Mapping[str, Mapping[str, int]]


def noisy(seed: int) -> tuple[CollectedQuery, dict[str, int]]:
    """Dense scores say what is relevant, lexical ones say nothing; of 60 documents each leg brings half."""
    rng = np.random.default_rng(seed)
    keys = [Key(f"d{number:02d}", "trials") for number in range(60)]
    worth = rng.random(60)
    legs = {}
    for leg, scores in (("dense", worth + rng.normal(0, 0.1, 60)), ("lexical", rng.random(60))):
        best = np.argsort(-scores)[:DEPTH]
        legs[leg] = [(keys[at], float(scores[at])) for at in best]
    return CollectedQuery.of("x", legs), {keys[at].id: int(worth[at] > 0.8) for at in range(60)}


@pytest.fixture(scope="module")
def judged() -> tuple[Collected, Qrels]:
    made = {f"q{seed:02d}": noisy(seed) for seed in range(30)}
    collected = Collected(
        "trials", {id: query for id, (query, _) in made.items()}, Profile(depth=DEPTH), DEPTH
    )
    return collected, {id: grades for id, (_, grades) in made.items()}


def test_it_finds_the_leg_that_knows_and_says_what_that_is_worth(judged: tuple[Collected, Qrels]) -> None:
    found = tune(*judged)
    assert found.best.dense >= 0.8
    assert found.profile.weights["dense"] == found.best.dense
    assert found.heldout.mean > found.baseline.mean + 0.1
    assert found.p_value < 0.01
    assert found.difference.mean == pytest.approx(found.heldout.mean - found.baseline.mean)
    assert found.train >= found.heldout.mean - 0.05
    assert found.settings_tried == len(Space().within(judged[0], Profile()).grid())
    assert sum(fold.queries for fold in found.folds) == len(found.per_query) == 30
    assert 0 < len(found.equal) < found.settings_tried / 2
    assert found.equal[0].setting == found.best
    assert found.judged == 1.0
    assert list(found.curve) == ["dense", "technique"]
    assert max(found.curve["dense"], key=lambda point: point.train.mean).chosen
    assert found.cautions == ()


def test_the_held_out_mean_is_that_of_each_folds_own_setting(judged: tuple[Collected, Qrels]) -> None:
    found = tune(*judged, folds=3)
    weighted = sum(fold.heldout * fold.queries for fold in found.folds) / 30
    assert found.heldout.mean == pytest.approx(weighted)
    baseline = measure_profiles(*judged, [Profile(depth=DEPTH)], Measure.parse("nDCG@10"))
    assert found.baseline.mean == pytest.approx(float(baseline.mean()))


@pytest.mark.parametrize("search", ["grid", "random", "optuna"])
def test_labels_of_a_fold_have_no_say_in_what_it_is_measured_by(
    judged: tuple[Collected, Qrels], search: str
) -> None:
    """The judgements of the queries of one fold are shuffled: its setting stays what it was."""
    if search == "optuna":
        pytest.importorskip("optuna")
    collected, qrels = judged
    held = set(list(qrels)[::6])
    rng = np.random.default_rng(2)
    shuffled = {
        id: dict(zip(grades, rng.permutation(list(grades.values())).tolist(), strict=True))
        if id in held
        else grades
        for id, grades in qrels.items()
    }
    before, after = (
        tune(collected, each, split=held, search=search, trials=12) for each in (qrels, shuffled)
    )
    assert before.best == after.best
    assert [fold.setting for fold in before.folds] == [before.best]
    assert set(before.per_query) == held
    assert before.train == after.train == pytest.approx(before.fitted.mean)
    assert before.heldout != after.heldout
    assert before.curve["dense"][0].held is not None


def test_random_labels_gain_nothing_held_out_and_it_says_so(judged: tuple[Collected, Qrels]) -> None:
    collected, qrels = judged
    rng = np.random.default_rng(0)
    noise = {
        id: dict(zip(grades, rng.permutation(list(grades.values())).tolist(), strict=True))
        for id, grades in qrels.items()
    }
    found = tune(collected, noise)
    assert found.train > found.heldout.mean
    text = " ".join(found.cautions)
    assert "tell" in text or "no better" in text
    assert "aren't significantly worse than the best" in text


def test_few_queries_and_few_judgements_are_said(judged: tuple[Collected, Qrels]) -> None:
    collected, qrels = judged
    few = Collected("trials", {id: collected.queries[id] for id in list(qrels)[:8]}, collected.profile, DEPTH)
    sparse = {
        id: {document: grade for document, grade in qrels[id].items() if grade} for id in list(qrels)[:8]
    }
    found = tune(few, sparse, folds=2, baseline=Profile(weights={"lexical": 1}, depth=DEPTH))
    assert any(each.startswith("8 judged queries are few") for each in found.cautions)
    half = {id: dict(list(grades.items())[:2]) for id, grades in sparse.items()}
    assert any("are judged, and the others count" in each for each in tune(few, half, folds=2).cautions)


def test_ids_of_a_split_that_nobody_judged_and_a_native_baseline_are_said(
    judged: tuple[Collected, Qrels],
) -> None:
    collected, qrels = judged
    split = (id for id in [*list(qrels)[:10], "q-typo", "other"])
    native = Profile(name="served", weights={"lexical": 1}, depth=DEPTH, execution="native")
    found = tune(collected, qrels, split=split, baseline=native)
    assert "2 of 12 ids of the split are of no judged query, as 'q-typo'" in found.cautions
    assert any(each.startswith("served is fused by OpenSearch, and was measured") for each in found.cautions)
    plain = tune(collected, qrels, split=list(qrels)[:10])
    assert not any("split" in each or "fused by OpenSearch" in each for each in plain.cautions)


def test_clicks_at_the_edge_of_what_was_tried_are_said(make_query: Callable[..., CollectedQuery]) -> None:
    queries = {f"q{seed}": make_query(seed) for seed in range(6)}
    liked = {
        id: dict.fromkeys(list(query.evidence.scores)[:5], 1)  # type: ignore[union-attr]
        for id, query in queries.items()
    }
    collected = Collected("trials", queries, Profile(depth=20), 20)
    space = Space(clicks=(0.0, 1.0), techniques=(("min_max", "weighted_sum"),))
    found = tune(collected, liked, folds=2, space=space)
    assert found.best.clicks == 1.0
    assert any("the best weight of clicks, 1, is the largest" in each for each in found.cautions)


def test_clicks_are_weighed_by_segment_where_that_is_better(
    make_query: Callable[..., CollectedQuery],
) -> None:
    """What was clicked is relevant for HEAD queries, and nothing of it for TAIL queries."""
    queries, qrels = {}, {}
    for seed in range(8):
        query, head = make_query(seed), seed % 2 == 0
        evidence = replace(query.evidence, segment="HEAD" if head else "TAIL")  # type: ignore[type-var]
        clicked = list(evidence.scores)
        others = [key.id for key in query.keys if key.id not in clicked]
        queries[f"q{seed}"] = replace(query, evidence=evidence)
        qrels[f"q{seed}"] = dict.fromkeys(clicked[:4] if head else others, 1)
    collected = Collected("trials", queries, Profile(depth=20), 20)
    space = Space(dense=(0.5,), clicks=(0.0, 0.5, 3.0), techniques=(("min_max", "weighted_sum"),))
    found = tune(collected, qrels, folds=2, space=space, segments=True)
    assert found.best.segments is not None
    head, _, tail = found.best.segments
    assert head == 3.0 and tail == 0.0
    assert found.profile.weights_in("TAIL")["clicks"] == 0.0
    alone = tune(collected, qrels, folds=2, space=space)
    assert found.heldout.mean > alone.heldout.mean
    assert "clicks 3/" in str(found)


def test_what_is_served_has_the_body_that_was_collected_by(judged: tuple[Collected, Qrels]) -> None:
    body = {"query": {"match": {"title": "{{text}}"}}}
    collected = replace(judged[0], profile=replace(judged[0].profile, body=body))
    assert tune(collected, judged[1], folds=2).profile.body == body
    other = Profile(weights={"lexical": 1}, body={"query": {"match": {"other": "{{text}}"}}})
    assert tune(collected, judged[1], folds=2, baseline=other).profile.body == body


def test_a_leg_that_brought_nothing_is_said_unless_it_is_off(judged: tuple[Collected, Qrels]) -> None:
    why = {"clicks": "similar past queries weren't found: 503", "dense": "no encoder"}
    silent = replace(judged[0], reasons=why, states={"clicks": {"empty": 30}, "dense": {"off": 30}})
    found = tune(silent, judged[1], folds=2).cautions
    assert "clicks brought nothing for any query: similar past queries weren't found: 503" in found
    assert not any("no encoder" in each for each in found)


def test_a_measure_that_looks_beyond_the_depth_is_said(judged: tuple[Collected, Qrels]) -> None:
    found = tune(*judged, measure="R@100", folds=2)
    assert "R@100 looks down to rank 100, and the best ranks 30" in " ".join(found.cautions)


def test_queries_without_a_relevant_document_are_left_out(judged: tuple[Collected, Qrels]) -> None:
    collected, qrels = judged
    some = {**qrels, "q00": {"d00": 0}}
    found = tune(collected, some, folds=2)
    assert found.excluded == 1
    assert "q00" not in found.per_query


def test_it_prints_draws_and_goes_into_json(judged: tuple[Collected, Qrels], tmp_path: Path) -> None:
    found = tune(*judged, measure="RR", folds=2)
    text = str(found)
    assert "RR of 30 queries held out" in text
    assert "baseline: default" in text
    console = Console(width=90, record=True, file=io.StringIO())
    console.print(found)
    assert "tuned, held out" in console.export_text()
    json = msgspec.json.decode(msgspec.json.encode(found.as_dict()))
    assert {"best", "heldout", "baseline", "p_value", "settings_tried"} <= set(json)
    assert json["best"]["weights"] == found.profile.weights
    assert json["heldout"] == {"mean": found.heldout.mean, "ci95": list(found.heldout.ci95)}
    assert Profile.from_dict(json["profile"]) == found.profile
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "tuning.png")
    assert (tmp_path / "tuning.png").read_bytes().startswith(b"\x89PNG")


def test_several_depths_are_tried(judged: tuple[Collected, Qrels]) -> None:
    found = tune(*judged, folds=2, space=Space(depths=(5, DEPTH)))
    assert {each.setting.depth for each in found.equal} <= {5, DEPTH}
    assert [point.value for point in found.curve["depth"]] == ["5", "30"]


def test_a_deeper_baseline_ranks_as_deep_as_was_collected(judged: tuple[Collected, Qrels]) -> None:
    deep = tune(*judged, folds=2, baseline=Profile(depth=500))
    assert deep.baseline == tune(*judged, folds=2).baseline


def test_what_cannot_be_done_is_refused(judged: tuple[Collected, Qrels]) -> None:
    with pytest.raises(MeasureUnknown):
        tune(*judged, measure="ERR@10")
    with pytest.raises(ProfileError, match="grid, random, optuna"):
        tune(*judged, search="all")
    with pytest.raises(ProfileError, match="0 trials"):
        tune(*judged, search="random", trials=0)
    with pytest.raises(NothingToEvaluate, match="can't be parted"):
        tune(*judged, folds=31)
    with pytest.raises(NothingToEvaluate, match="none of the 30 queries"):
        tune(judged[0], {"q00": {"d00": 0}})
    with pytest.raises(ProfileError, match="has the depth 400"):
        tune(*judged, space=Space(depths=(400,)))
