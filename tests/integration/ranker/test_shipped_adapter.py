"""The adapter that comes with trifuse, on the sentences of made-up trials and their real vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import Encoder
from trifuse.encoder.adapter_files import DEFAULT_ADAPTER
from trifuse.encoder.adapters import adapters_for, load_adapter
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.indexer.load import load
from trifuse.indexer.mapping import sentence_index
from trifuse.indexer.readers import Record
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial
from trifuse.ranker import HybridRanker
from trifuse.ranker.sentences import SentenceRanker
from trifuse.worker.embedding import embed

STROKE = Trial(
    nct_id="NCT00000001",
    brief_title="Aspirin after ischaemic stroke",
    brief_summary=(
        "Adults aged 60 or older with a first ischaemic stroke are enrolled. Aspirin 100 mg is given once a "
        "day. The primary outcome is death or a new stroke within one year."
    ),
    eligibility=(
        "Inclusion Criteria:\n\n- Women and men with a first stroke\n- Able to swallow tablets\n\n"
        "Exclusion Criteria:\n\n- Pregnant or breast-feeding women\n- Bleeding disorder"
    ),
)
DIABETES = Trial(
    nct_id="NCT00000002",
    brief_title="Insulin pump in type 1 diabetes",
    brief_summary=(
        "Children with type 1 diabetes take part. The control group goes on with daily injections. HbA1c at "
        "six months is measured."
    ),
    eligibility="Inclusion Criteria:\n\n- Children from 6 to 12 years\n\nExclusion Criteria:\n\n- Coeliac",
)


@pytest.fixture(scope="module")
def trials(client: OpenSearch, encoder: Encoder) -> Iterator[str]:
    """The index of the trials, whose sentences are embedded."""
    name = "test-shipped-adapter"
    client.indices.delete(index=f"{name}*")
    records = [Record(trial, trial.nct_id) for trial in (STROKE, DIABETES)]
    load(client, records, index=name, space=Space(encoder.space, TRIAL_TEMPLATE), sentences=True)
    sentences = sentence_index(name)
    client.indices.refresh(index=sentences)
    hits = client.search(index=sentences, body={"size": 100, "_source": False})["hits"]["hits"]
    report = embed(client, encoder, sentences, VECTOR_FIELD, [(hit["_id"], None) for hit in hits])
    assert report.embedded == len(hits) == 12
    client.indices.refresh(index=sentences)
    yield name
    client.indices.delete(index=f"{name}*")


@pytest.fixture(scope="module")
def sentences(client: OpenSearch, encoder: Encoder) -> SentenceRanker:
    return SentenceRanker(HybridRanker(client, encoder), load_adapter(DEFAULT_ADAPTER))


def first(sentences: SentenceRanker, trials: str, text: str, aspect: str, **more: Any) -> str:
    response = sentences.search(trials, text=text, aspect=aspect, size=1, **more)
    found: str = response["hits"]["hits"][0]["_source"]["text"]
    return found


def test_it_is_known_for_the_default_encoder(encoder: Encoder) -> None:
    assert DEFAULT_ADAPTER in adapters_for(encoder.space)


@pytest.mark.parametrize(
    ("aspect", "expected"),
    [
        ("population", "Adults aged 60 or older with a first ischaemic stroke are enrolled."),
        ("intervention", "Aspirin 100 mg is given once a day."),
        ("outcome", "The primary outcome is death or a new stroke within one year."),
    ],
)
def test_one_topic_by_each_aspect(sentences: SentenceRanker, trials: str, aspect: str, expected: str) -> None:
    title = STROKE.brief_title or ""
    assert first(sentences, trials, title, aspect, sections=["brief_summary"]) == expected


def test_population_in_and_population_out(sentences: SentenceRanker, trials: str) -> None:
    wanted = {
        "eligibility.inclusion": "Women and men with a first stroke",
        "eligibility.exclusion": "Pregnant or breast-feeding women",
    }
    for section, expected in wanted.items():
        assert first(sentences, trials, "women after a stroke", "population", sections=[section]) == expected


def test_a_question_over_all_trials(sentences: SentenceRanker, trials: str) -> None:
    found = first(sentences, trials, "Which children with diabetes were included?", "auto")
    assert found in ("Children with type 1 diabetes take part.", "Children from 6 to 12 years")


def test_a_question_for_the_comparator(sentences: SentenceRanker, trials: str) -> None:
    """By the wording alone, over all trials: the rule tells the aspect, the adapter the sentence."""
    response = sentences.search(
        trials, text="What was the insulin pump compared with?", aspect="auto", size=1
    )
    assert response["trifuse"]["aspect"] == {
        "name": "comparator",
        "by": "rule",
        "words": "what was the insulin pump compared with",
        "adapter": DEFAULT_ADAPTER,
        "reason": None,
    }
    (hit,) = response["hits"]["hits"]
    assert hit["_source"]["text"] == "The control group goes on with daily injections."
