"""The tables of Trial2Vec: who is asked among whom, what is relevant, what is measured."""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trial2vec
from scipy.sparse import csr_array
from trial2vec_data import FULL, Told, told
from trial2vec_lexical import Bm25, bm25_scores, counts, vector_scores
from trial2vec_methods import parts_of
from trial2vec_protocol import Judged, in_pool, judged, nearest, rare_terms, sample
from trial2vec_table import as_json, evaluation, ranked, values
from trial2vec_vectors import Vectors, chunks, whitened

from trifuse.encoder.templates import build_text
from trifuse.indexer.trial_parts import trial_parts

LN = math.log


def trial(name: str, *terms: str) -> Told:
    return Told(name, {}, frozenset(terms))


def test_pools_go_by_the_hash_of_the_id() -> None:
    """SHA-256 modulo 10 of these ids: 0, 7, 8, 9."""
    trials = [trial(each) for each in ("NCT00000008", "NCT00000001", "NCT00000030", "NCT00000002")]
    found = {pool: [each.id for each in in_pool(trials, pool)] for pool in ("train", "dev", "test")}
    assert found == {
        "train": ["NCT00000008"],
        "dev": ["NCT00000001"],
        "test": ["NCT00000030", "NCT00000002"],
    }


def test_a_term_counts_up_to_so_many_trials() -> None:
    trials = [trial("a", "Gout", "Arthritis"), trial("b", "Arthritis"), trial("c", "Arthritis", "Gout")]
    assert rare_terms(trials, most=2) == {"a": {"Gout"}, "b": frozenset(), "c": {"Gout"}}
    assert rare_terms(trials, most=3)["b"] == {"Arthritis"}


def test_a_term_of_300_trials_is_rare_and_one_of_301_is_not() -> None:
    trials = [trial(str(number), "often", *(["rare"] if number else [])) for number in range(301)]
    assert rare_terms(trials)["1"] == {"rare"}


def test_candidates_are_the_nearest_others() -> None:
    """The second and third are equally near to the first; it isn't its own candidate."""
    vectors = csr_array(np.array([[2.0, 0.0], [1.0, 1.0], [1.0, 3.0], [0.0, 1.0]]))
    assert nearest(vectors) == [[1, 2, 3], [2, 0, 3], [1, 3, 0], [2, 1, 0]]
    assert nearest(vectors, 1) == [[1], [2], [1], [2]]


def test_a_query_has_candidates_of_both_kinds() -> None:
    """`a` shares a term with both others, `d` with none."""
    pool = [trial("a"), trial("b"), trial("c"), trial("d")]
    terms = {"a": {"x", "y"}, "b": {"x"}, "c": {"y"}, "d": set[str]()}
    frozen = {name: frozenset(some) for name, some in terms.items()}
    found = judged(pool, [[1, 2], [0, 2], [1, 0], [0, 1]], frozen)
    assert found == [
        Judged("b", ("a", "c"), (True, False)),
        Judged("c", ("b", "a"), (False, True)),
    ]


def test_a_seed_draws_the_queries() -> None:
    every = [Judged(str(number), ("x",), (True,)) for number in range(50)]
    first = sample(every, 20, seed=1)
    assert len({each.trial for each in first}) == 20
    assert first == sample(every, 20, seed=1) != sample(every, 20, seed=2)
    assert [int(each.trial) for each in first] == sorted(int(each.trial) for each in first)
    assert sample(every, 50, seed=1) == every == sample(every, 99, seed=2)


def test_of_equal_scores_the_earlier_candidate_is_first() -> None:
    assert ranked("abcd", np.array([0.1, 0.5, 0.1, 0.5])) == ["b", "d", "a", "c"]


def test_measures_by_hand() -> None:
    """Ranks 2, 4 and 6 of six are relevant: 1/log2(3) + 1/log2(5) of 1 + 1/log2(3) + 1/log2(4)."""
    query = Judged("q", tuple("abcdef"), (False, True, False, True, False, True))
    found = values([query], [[-np.arange(6.0)]])[0]
    gained = LN(2) / LN(3) + LN(2) / LN(5)
    best = 1 + LN(2) / LN(3) + 0.5
    assert {measure: row["0 q"] for measure, row in found.items()} == pytest.approx(
        {
            "nDCG@5": gained / best,  # 1.06161 / 2.13093 = 0.49819
            "P@1": 0.0,
            "P@2": 0.5,
            "P@5": 0.4,
            "R@1": 0.0,
            "R@2": 1 / 3,
            "R@5": 2 / 3,
        }
    )
    assert found["nDCG@5"]["0 q"] == pytest.approx(0.49819, abs=1e-5)


def test_several_runs_are_averaged_query_by_query_and_compared_with_ours() -> None:
    """Of two candidates the second is relevant: nDCG@5 is 1, or 1/log2(3) = 0.63093."""
    queries = [Judged(name, (f"{name}1", f"{name}2"), (False, True)) for name in "pqr"]
    good, bad = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    runs = {
        "trial2vec": values(queries, [[good, good, good], [good, bad, good]]),
        "bm25": values(queries, [[bad, bad, bad]]),
    }
    found = as_json(evaluation(runs, {"bm25": "trial2vec"}, resamples=200), runs)
    low = LN(2) / LN(3)
    assert found["queries"] == 3
    assert found["methods"]["trial2vec"]["nDCG@5"]["mean"] == pytest.approx((5 + low) / 6)
    assert found["methods"]["bm25"]["nDCG@5"]["mean"] == pytest.approx(low)
    assert found["methods"]["bm25"]["nDCG@5"]["ci95"] == pytest.approx([low, low])
    assert [each["nDCG@5"] for each in found["runs"]["trial2vec"]] == pytest.approx([1.0, (2 + low) / 3])
    test = found["tests"]["bm25"]["nDCG@5"]
    assert (test["against"], test["wins"], test["losses"]) == ("trial2vec", 0, 3)
    assert test["difference"] == pytest.approx(low - (5 + low) / 6)
    assert test["p_randomisation"] == 0.25  # 2 of 8 signs: +++ and ---


def test_bm25_by_hand() -> None:
    """Three documents of two words each: ab, cc, cd. ln(2.5/1.5) for a, b and d; c, which two have, is below
    0 and gets a quarter of the mean, which is half of that.
    """
    words = counts(["aa bb", "cc cc", "cc dd", "aa cc", "aa aa"])
    rare = LN(2.5 / 1.5)
    found = Bm25.of(words[:3])
    assert found.length == 2
    common = rare / 8
    assert found.scores(words[[3]], words[:3]) == pytest.approx([rare, common * 5 / 3.5, common])
    assert found.scores(words[[4]], words[:3]) == pytest.approx([2 * rare, 0, 0])


def test_bm25_over_the_candidates_or_over_all() -> None:
    """`aa` is in both candidates, so that it says less among them than among four."""
    texts = ["aa", "aa bb", "aa cc", "dd"]
    places = {name: place for place, name in enumerate("qxyz")}
    query = [Judged("q", ("x", "y"), (True, False))]
    words = counts([*texts, "bb", "ee", "ff"])
    among = bm25_scores(query, places, words, over_all=False)[0]
    over = bm25_scores(query, places, words, over_all=True)[0]
    # Of two documents: aa ln(0.5/2.5) < 0, bb and cc ln(1.5/1.5) = 0; the mean is a third of the first.
    assert among == pytest.approx([LN(0.2) / 12] * 2)
    # Of seven: aa ln(4.5/3.5); nine words in all, 9/7 a document.
    assert over == pytest.approx([LN(4.5 / 3.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 14 / 9))] * 2)


def test_queries_may_have_other_vectors_than_candidates() -> None:
    query = [Judged("q", ("x", "y"), (True, False))]
    places = {"q": 0, "x": 1, "y": 2}
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    assert vector_scores(query, places, rows)[0].tolist() == [0.6, 0.0]
    assert vector_scores(query, places, rows, rows[:, ::-1])[0].tolist() == [0.8, 1.0]


def test_whitened_vectors_have_the_axes_at_one_scale() -> None:
    """Twice as long along x as along y, around (1, 1): (3, 2) is one step along each."""
    learned = np.array([[3, 1], [-1, 1], [1, 2], [1, 0]], dtype=np.float32)
    found = whitened(np.array([[3, 2], [3, 1]], dtype=np.float32), learned, 2)
    assert np.abs(found) == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [1, 0]]), abs=1e-6)
    assert whitened(learned, learned, 1).shape == (4, 1)


def test_chunks_hold_every_word_once() -> None:
    assert list(chunks("a b c d e", 2)) == ["a b", "c d", "e"]
    assert list(chunks("", 2)) == [""]


DISEASES = {
    "asthma": ("NCT00000030", "NCT00000051", "NCT00000002"),
    "gout": ("NCT00000004", "NCT00000005", "NCT00000018"),
}
"""Six trials of the test pool."""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "ctgov_full").mkdir(parents=True)
    with gzip.open(folder / "ctgov_full" / "trials.jsonl.gz", "wt") as file:
        for disease, names in DISEASES.items():
            for name in (*names, names[0]):  # the first one twice
                record = {
                    "nct_id": name,
                    "brief_title": "pills",
                    "conditions": [disease],
                    "condition_mesh": [f"{disease} term"],
                    "intervention_mesh": ["pills term"],
                }
                file.write(json.dumps(record) + "\n")
    return folder


@pytest.fixture
def model(tmp_path: Path, make_parts_model: Callable[..., Path]) -> Path:
    words = {"pills": [1.0, 0.0, 0.0], "asthma": [0.0, 1.0, 0.0], "gout": [0.0, 0.0, 1.0]}
    return make_parts_model(tmp_path / "model", words)


def test_no_method_sees_a_mesh_term(corpus: Path) -> None:
    trials = told([corpus / "ctgov_full" / "trials.jsonl.gz"])
    assert len(trials) == 6
    assert trials[0].mesh == {"asthma term"}
    for each in trials:
        assert "term" not in json.dumps(each.source)
        assert "term" not in build_text(each.source, FULL)
        assert trial_parts(each.source).keys() == {"title", "condition"}


def test_the_table_by_parts(
    corpus: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each query has two trials of its disease among five. By conditions they are found first; the titles are
    all the same, so that the order stays TF-IDF's, which finds them first, too.
    """
    arguments = ["--data", str(corpus), "--model", str(model), "--cache", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["trial2vec.py", "--table", "partial", "--json", *arguments])
    trial2vec.main()
    found = json.loads(capsys.readouterr().out)
    assert (found["table"], found["queries"], found["eligible"]) == ("partial", 6, 6)
    for method in ("trial2vec", "trial2vec by condition", "trial2vec by title"):
        assert found["methods"][method]["nDCG@5"] == {"mean": 1.0, "ci95": [1.0, 1.0]}
    assert found["methods"]["trial2vec"]["P@5"]["mean"] == pytest.approx(0.4)
    assert "trial2vec, no condition" in found["methods"]
    against = {method: each["nDCG@5"]["against"] for method, each in found["tests"].items()}
    assert against["trial2vec by title"] == "trial2vec"
    assert against["tfidf, no condition"] == "trial2vec, no condition"
    assert not {"trial2vec", "trial2vec, no condition"} & against.keys()


def test_vectors_of_parts_are_zero_where_a_trial_has_none(corpus: Path, model: Path, tmp_path: Path) -> None:
    trials = told([corpus / "ctgov_full" / "trials.jsonl.gz"])[:1]
    items = parts_of([*trials, trial("empty")], ("condition",))
    assert items == [{"condition": "asthma"}, {}]
    with Vectors(tmp_path / "kept") as vectors:
        assert vectors.of_parts(str(model), items).tolist() == [[0, 1, 0], [0, 0, 0]]


def test_a_corpus_without_terms_says_so(corpus: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "argv", ["trial2vec.py", "--data", str(corpus), "--model", str(model), "--pool", "dev"]
    )
    with pytest.raises(SystemExit, match="no query trial in the pool 'dev'"):
        trial2vec.main()


@pytest.mark.parametrize("made", [False, True])
def test_no_corpus_at_all_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool) -> None:
    if made:
        (tmp_path / "trials.jsonl.gz").write_bytes(b"junk")
    folder = tmp_path if made else tmp_path / "nowhere"
    monkeypatch.setattr(sys, "argv", ["trial2vec.py", "--data", str(folder)])
    with pytest.raises(SystemExit, match=r"no trial that can be read|no file or folder"):
        trial2vec.main()
