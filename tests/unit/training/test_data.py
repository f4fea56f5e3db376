"""Examples from files: triples of texts, triples of ids, judged queries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from trifuse.deploy.errors import UnreadableCorpus

pytestmark = pytest.mark.train


def _write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "corpus.jsonl",
        *(
            json.dumps({"_id": organ, "title": f"The {organ}", "text": f"On the {organ}."})
            for organ in ("heart", "lung", "skin")
        ),
        '{"_id": "untitled", "text": "On nothing."}',
    )


def test_triples_of_texts_in_their_order_and_again(tmp_path: Path) -> None:
    """TripClick's layout: a document is `title <eot> text`."""
    from trifuse.deploy.cli.training_data import from_triples

    path = _write(
        tmp_path / "triples.tsv",
        "heart attack\tHeart <eot> On hearts.\tLung <eot> On lungs.",
        "lung cancer\tLung <eot> On lungs.\tUntitled on hearts.",
    )
    with from_triples(path, None, None) as data:
        found = list(islice(data.examples(" [SEP] "), 3))
    assert [each.query for each in found] == ["heart attack", "lung cancer", "heart attack"]
    assert found[0].positive.text == "Heart [SEP] On hearts."
    assert found[1].negative.text == "Untitled on hearts."
    assert found[0].negative.id == found[1].positive.id  # the same text is the same document
    assert data.known == {}


def test_triples_of_ids(tmp_path: Path, corpus: Path) -> None:
    from trifuse.deploy.cli.training_data import from_triples

    path = _write(tmp_path / "triples.tsv", "1\theart\tuntitled", "2\tlung\tskin")
    queries = _write(tmp_path / "queries.tsv", "1\theart attack", "2\tlung cancer")
    with from_triples(path, queries, corpus) as data:
        found = list(islice(data.examples(" [SEP] "), 2))
    assert found[0] == (
        "heart attack",
        ("heart", "The heart [SEP] On the heart."),
        ("untitled", "On nothing."),
    )
    assert found[1].query == "lung cancer"


def test_ids_without_what_they_stand_for(tmp_path: Path, corpus: Path) -> None:
    from trifuse.deploy.cli.training_data import from_triples

    path = _write(tmp_path / "triples.tsv", "1\theart\tliver", "9\theart\tlung")
    queries = _write(tmp_path / "queries.tsv", "1\theart attack")
    with pytest.raises(UnreadableCorpus, match="by ids: give their texts"), from_triples(path, None, corpus):
        pass
    with (
        from_triples(path, queries, corpus) as data,
        pytest.raises(UnreadableCorpus, match="no document 'liver'"),
    ):
        list(islice(data.examples(" "), 2))
    other = _write(tmp_path / "others.tsv", "9\theart\tlung")
    with from_triples(other, queries, corpus) as data, pytest.raises(UnreadableCorpus, match="the query '9'"):
        list(islice(data.examples(" "), 2))


def test_judged_queries_with_mined_negatives(tmp_path: Path, corpus: Path) -> None:
    from trifuse.deploy.cli.training_data import from_judgements

    queries = _write(tmp_path / "queries.tsv", "1\theart attack", "2\tlung cancer", "3\tunjudged")
    qrels = _write(
        tmp_path / "qrels",
        "1 0 heart 2",
        "1 0 lung 0",
        "1 0 gone 1",  # not in the collection
        "2 0 lung 1",
        "4 0 skin 1",  # of no query
    )
    asked: list[Any] = []

    def mine(documents: Any, queries: Mapping[str, str], relevant: Mapping[str, Any]) -> dict[str, list[str]]:
        asked.append((len(documents), dict(queries), dict(relevant)))
        return {"1": ["lung"], "2": ["skin"]}

    with from_judgements(queries, qrels, corpus, mine, seed=0) as data:
        found = list(islice(data.examples(" [SEP] "), 10))
    assert asked == [(4, {"1": "heart attack", "2": "lung cancer"}, {"1": {"heart"}, "2": {"lung"}})]
    assert data.known == {"heart attack": {"heart"}, "lung cancer": {"lung"}}
    assert {(each.query, each.positive.id, each.negative.id) for each in found} == {
        ("heart attack", "heart", "lung"),
        ("lung cancer", "lung", "skin"),
    }
    assert found[0].positive.text in ("The heart [SEP] On the heart.", "The lung [SEP] On the lung.")
