"""The files of Evidence Inference, and the questions that are made of them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.evidence import (
    Article,
    Prompt,
    read_abstracts,
    read_evidence,
    read_full_texts,
    read_prompts,
)
from trifuse.encoder.training.aspects.questions import Question, article_document, questions_of

FULL = (
    "TITLE: \nZinc. A trial\n\nABSTRACT.METHODS:\nWe gave zinc or a placebo. Pain was rated.\n\n"
    "ABSTRACT.RESULTS:\nPain fell with Zinc.\n\nBODY.METHODS:\nZinc again.\n"
)
HEADER = "PromptID,Valid Label,Valid Reasoning,Evidence Start,Evidence End\n"
PROMPT = Prompt("9", "1", "zinc", "placebo", "pain")


def _at_stops(text: str) -> Iterator[tuple[int, int]]:
    yield from ((found.start(), found.end()) for found in re.finditer(r"[^\s.][^.]*\.?", text))


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def _texts(article: Article) -> list[str]:
    return [article.text[start:end].strip() for start, end in (article.title, *article.passages)]


def test_a_full_text_is_cut_at_its_headings(tmp_path: Path) -> None:
    row = {"pmcid": "1", "split": "train", "text": FULL}
    (found,) = read_full_texts(_written(tmp_path, "full.jsonl.gz", json.dumps(row)))
    assert (found.id, found.split, found.text) == ("1", "train", FULL)
    assert _texts(found) == [
        "Zinc. A trial",
        "We gave zinc or a placebo. Pain was rated.",
        "Pain fell with Zinc.",
    ]


def test_an_abstract_has_its_sections(tmp_path: Path) -> None:
    row = {"pmcid": 1, "split": None, "title": "Zinc", "abstract": [{"section": "A", "text": "One."}]}
    bare = {"pmcid": "2", "title": None, "abstract": []}
    rows = f"{json.dumps(row)}\n{json.dumps(bare)}\n"
    one, two = read_abstracts(_written(tmp_path, "abstracts.jsonl", rows))
    assert (one.id, one.split, _texts(one)) == ("1", "", ["Zinc", "One."])
    assert _texts(two) == [""]


def test_sentences_have_the_aspects_that_prompts_name(tmp_path: Path) -> None:
    row = {"pmcid": "1", "split": "validation", "text": FULL}
    (article,) = read_full_texts(_written(tmp_path, "full.jsonl", json.dumps(row)))
    found = article_document(article, [PROMPT], _at_stops)
    assert [(each.text, sorted(each.aspects)) for each in found.sentences] == [
        ("Zinc. A trial", ["intervention"]),
        ("We gave zinc or a placebo.", ["comparator", "intervention"]),
        ("Pain was rated.", ["outcome"]),
        ("Pain fell with Zinc.", ["intervention", "outcome"]),
    ]
    assert all(found.text[each.start : each.end] == each.text for each in found.sentences)
    assert (found.title, found.split) == ("Zinc. A trial", "dev")


def test_words_count_whole(tmp_path: Path) -> None:
    article = Article("1", "", "T\nZincate, a drug.", (0, 1), ((2, 18),))
    found = article_document(article, [PROMPT], _at_stops)
    assert found.candidates[0].aspects == frozenset()


def test_questions_have_the_sentences_that_answer_them(tmp_path: Path) -> None:
    """The evidence is `Pain fell` in the results; zinc and placebo are named in the methods."""
    row = {"pmcid": "1", "text": FULL}
    (article,) = read_full_texts(_written(tmp_path, "full.jsonl", json.dumps(row)))
    document = article_document(article, [PROMPT], _at_stops)
    start = FULL.index("Pain fell")
    found = list(questions_of(document, [PROMPT], {"9": [(start, start + 9)]}))
    assert found == [
        Question(
            "9 intervention",
            "What was compared with placebo for its effect on pain?",
            "intervention",
            "1",
            frozenset({0, 2}),
        ),
        Question(
            "9 comparator",
            "What was zinc compared with for its effect on pain?",
            "comparator",
            "1",
            frozenset({0}),
        ),
        Question(
            "9 outcome",
            "What was the effect of zinc on pain, compared with placebo?",
            "outcome",
            "1",
            frozenset({2}),
        ),
    ]
    without = list(questions_of(document, [PROMPT], {}))
    assert [question.aspect for question in without] == ["intervention", "comparator"]
    assert list(questions_of(document, [PROMPT._replace(outcome="")], {})) == []


def test_prompts_by_article(tmp_path: Path) -> None:
    table = 'PromptID,PMCID,Outcome,Intervention,Comparator\n9,1,"pain,\nlater", zinc ,placebo\n'
    assert read_prompts(_written(tmp_path, "prompts.csv.gz", table)) == {
        "1": [Prompt("9", "1", "zinc", "placebo", "pain,\nlater")]
    }


def test_evidence_that_is_valid(tmp_path: Path) -> None:
    path = _written(tmp_path, "a.csv", HEADER + "9,True,True,5,8\n9,True,False,1,2\n9,True,True,0,3\n")
    left_out: list[str] = []
    assert read_evidence(path, left_out.append) == {"9": [(5, 8), (0, 3)]}
    assert left_out == ["an annotation of the prompt 9 isn't valid (line 3)"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("PromptID\n", "no column Evidence End, Evidence Start, Valid Label, Valid Reasoning"),
        (f"{HEADER}9,True,True,8,5\n", "line 2: the evidence is from '8' to '5'"),
        (f"{HEADER}\n9,True,True,-1,5\n", "line 3: the evidence"),
        (f"{HEADER}9,True\n", "line 2: the row is shorter"),
        (f'{HEADER}"9', "line 2: unexpected end"),
    ],
)
def test_wrong_tables_name_the_line(tmp_path: Path, table: str, said: str) -> None:
    path = _written(tmp_path, "a.csv", table)
    with pytest.raises(LabelsInvalid, match=f"{path}.* {said}"):
        read_evidence(path, lambda said: None)


def test_wrong_rows_name_the_line(tmp_path: Path) -> None:
    path = _written(tmp_path, "a.jsonl", '{"pmcid": "1"}\n')
    for read in (read_abstracts, read_full_texts):
        with pytest.raises(LabelsInvalid, match=f"{path}, line 1: .*missing required field"):
            list(read(path))
