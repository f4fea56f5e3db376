"""The tables of aspects, on a model whose numbers are worked out by hand."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aspects
import pytest
from aspects_data import abstracts, questions
from aspects_open import answered, asked_everywhere, share_of
from aspects_search import Sentences, Way, in_one_step
from tiny_model import make_model

from trifuse.encoder.aspects import INSTRUCTIONS
from trifuse.encoder.registry import load_encoder
from trifuse.ranker.evaluation.asking import generic, sentence_vectors

PIO = ("population", "intervention", "outcome")


def _word_of(aspect: str) -> str:
    """The first word of its wording that no other aspect's has."""
    others = {word for name, said in INSTRUCTIONS.items() if name != aspect for word in said.split()}
    return next(word for word in INSTRUCTIONS[aspect].split() if word not in others)


# The mean of [CLS], the words and [SEP]: an axis for each aspect, and one for what else there is.
WORDS = {
    "Men.": (3.0, 0.0, 0.0, 0.0),
    "Zinc.": (0.0, 3.0, 0.0, 0.0),
    "Pain.": (0.0, 0.0, 3.0, 0.0),
    "Gout.": (0.0, 0.0, 4.0, 0.0),
    **{_word_of(name): tuple(9.0 * (at == axis) for at in range(4)) for axis, name in enumerate(PIO)},
    "[UNK]": (0.0, 0.0, 0.0, 0.01),
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One abstract of each split, and one article with a prompt."""
    rows = [
        {
            "pmid": "1",
            "split": "test",
            "tokens": ["Colds.", "Men.", "Zinc.", "Pain.", "End."],
            "labels": "NPION",
        },
        {"pmid": "2", "split": "train", "tokens": ["Title.", "Gout."], "labels": "NO"},
    ]
    rows = [row | {"labels": list(row["labels"])} for row in rows]
    full = "TITLE: \nColds\n\nABSTRACT.A:\nZinc. Men. Pain.\n\nBODY.B:\nMore.\n"
    _write(tmp_path / "ebm_nlp" / "pio_tokens.jsonl.gz", *map(json.dumps, rows))
    mesh = {"pmid": "1", "mesh": ["Pain./*drug therapy", "Humans", "*Gout./*x"]}
    _write(tmp_path / "ebm_nlp" / "documents.jsonl.gz", json.dumps(mesh))
    folder = tmp_path / "evidence_inference"
    articles = [
        {"pmcid": "7", "split": "test", "text": full},
        {"pmcid": "8", "split": "test", "text": "TITLE: \nT\n"},
    ]
    _write(folder / "articles_fulltext_v2.jsonl.gz", *map(json.dumps, articles))
    _write(
        folder / "prompts_merged.csv.gz",
        "PromptID,PMCID,Outcome,Intervention,Comparator",
        "1,7,pain,zinc,sugar",
    )
    header = "PromptID,Valid Label,Valid Reasoning,Evidence Start,Evidence End"
    start = full.index("Pain")
    _write(folder / "v2_annotations.csv.gz", header, f"1,True,True,{start},{start + 4}")
    return tmp_path


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(make_model(tmp_path / "tiny", WORDS, max_tokens=64))


@pytest.fixture
def run(
    data: Path, model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    def invoke(*options: str) -> str:
        command = [
            "aspects.py",
            "--data",
            str(data),
            "--encoder",
            model,
            "--cache",
            str(data / "kept"),
            *options,
        ]
        monkeypatch.setattr(sys, "argv", command)
        aspects.main()
        return capsys.readouterr().out

    return invoke


def _write(path: Path, *lines: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


@pytest.mark.parametrize(
    ("topic", "about", "candidates"),
    [
        ("title", "Colds.", ["Men.", "Zinc.", "Pain.", "End."]),
        ("mesh", "Pain.; Gout.", ["Men.", "Zinc.", "Pain.", "End."]),
        ("conclusion", "End.", ["Men.", "Zinc.", "Pain."]),
        ("none", "", ["Men.", "Zinc.", "Pain.", "End."]),
    ],
)
def test_what_an_abstract_is_asked_about(data: Path, topic: str, about: str, candidates: list[str]) -> None:
    (asked,), others = abstracts(data, None, "test", topic)
    assert (asked.topic, asked.texts) == (about, candidates)
    assert others == [["Gout."]]


def test_the_table_of_each_abstract(run: Callable[..., str]) -> None:
    """The wording finds each aspect's sentence; the title, unknown here, the one that is like nothing."""
    found: dict[str, Any] = json.loads(run("--json"))["methods"]
    assert [found["instruction"][key] for key in ("top1", "specific", "switching", "pairs")] == [
        100,
        100,
        100,
        3,
    ]
    assert found["generic"]["specific"] == 0
    assert list(json.loads(run("--json", "--only", "instruction", "--topic", "none"))["methods"]) == [
        "instruction"
    ]
    assert "1 documents, 3 requests" in run()


def test_all_abstracts_at_once(run: Callable[..., str]) -> None:
    """The other abstract's gout is nearer to the wording for outcomes than the own one's pain."""
    found = json.loads(run("--table", "open", "--json"))["methods"]["instruction"]
    assert found["top1"] == pytest.approx(200 / 3)
    assert found["document"]["percent"] == pytest.approx(200 / 3)
    assert found["per_aspect"]["outcome"]["top1"] == 0
    assert found["switching"] == pytest.approx(100 / 3)
    assert "of its own document 66.7 (66.7-66.7) %" in run("--table", "open")


def test_a_sentence_of_another_document_has_no_aspect(data: Path, model: str) -> None:
    (asked,), others = abstracts(data, None, "test", "title")
    encoder = load_encoder(model)
    vectors, _ = sentence_vectors(encoder, [asked.texts, *others])
    words = {"population": "Men.", "outcome": "Gout."}
    way = in_one_step(lambda topics, aspect: encoder.encode_queries([words[aspect]]))
    answers, at_home = asked_everywhere(way, [asked], Sentences.of(vectors), list(words))
    assert answers[0].first == {"population": 0, "outcome": 4}
    assert answers[0].aspects[4] == frozenset()
    assert at_home == [1]
    assert share_of([at_home], 2) == (50, (50, 50), 2)


def test_questions_have_their_answers(data: Path, model: str) -> None:
    """Zinc and the evidence of pain answer; sugar is named nowhere, so that nothing is asked of it."""
    found = questions(data, "test")
    assert [(question.aspect, question.answers) for question in found.asked] == [
        ("intervention", frozenset({0})),
        ("outcome", frozenset({2})),
    ]
    assert [document.id for document in found.documents] == ["7"]
    encoder = load_encoder(model)
    vectors, _ = sentence_vectors(encoder, [[each.text for each in found.documents[0].candidates]])
    sentences = Sentences.of(vectors)

    def say(word: str) -> Way:
        return in_one_step(lambda texts, aspect: encoder.encode_queries([word]))

    right = answered(say("Pain."), found, sentences, "outcome")
    assert right is not None
    assert {name: mean for name, (mean, _) in right.measures.items()} == {
        "within": 100, "first": 100, "RR@10": 100, "document": 100,
    }  # fmt: skip
    wrong = answered(say("Men."), found, sentences, "outcome")
    assert wrong is not None
    assert wrong.measures["first"][0] == 0
    assert wrong.measures["RR@10"][0] == pytest.approx(100 / 3)  # men, zinc and pain in reading order
    assert answered(in_one_step(generic(encoder)), found, sentences, "comparator") is None


def test_the_table_of_questions(run: Callable[..., str]) -> None:
    found = json.loads(run("--table", "questions", "--json"))["methods"]
    assert set(found) == {"generic", "instruction"}
    assert set(found["instruction"]) == {"intervention", "outcome"}
    assert found["instruction"]["outcome"]["measures"]["first"]["mean"] == 100
    assert "intervention" in run("--table", "questions")
