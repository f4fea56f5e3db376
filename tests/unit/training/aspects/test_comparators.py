"""Abstracts that may be asked for the comparator, from prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.comparators import (
    LONGEST_ABSTRACT,
    comparator_documents,
    holds_prompts,
)

ARTICLES = (
    ("1", "train", "We gave zinc. Others got a placebo. Pain was less than with placebo."),
    ("2", "validation", "Placebo again."),
    ("3", "train", "No prompt is known of it."),
    ("4", None, "Placebo, of no split."),
    ("5", "test", "x" * (LONGEST_ABSTRACT + 1)),
    ("6", "train", ""),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six articles, of which five have a prompt."""
    table = ["PromptID,PMCID,Outcome,Intervention,Comparator"]
    table += [f"{article},{article},pain,zinc,placebo" for article in "12456"]
    (tmp_path / "prompts_merged.csv").write_text("\n".join(table) + "\n")
    rows = [
        {"pmcid": name, "split": split, "title": "Zinc", "abstract": [{"text": text}] if text else []}
        for name, split, text in ARTICLES
    ]
    (tmp_path / "articles_abstracts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def _at_stops(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (end := text.find(".", start) + 1) > 0:
        yield start, end
        start = end


def test_articles_are_asked_for_the_comparator_alone(folder: Path) -> None:
    """What else a sentence names is kept: the last one names an outcome beside the comparator."""
    left_out: list[str] = []
    one, two = comparator_documents(folder, _at_stops, left_out.append)
    assert holds_prompts(folder)
    assert [sorted(each.aspects) for each in one.candidates] == [
        ["intervention"],
        ["comparator"],
        ["comparator", "outcome"],
    ]
    assert (one.title, one.asked, one.split, two.split) == ("Zinc", ("comparator",), "train", "dev")
    assert one.asks(["population", "comparator"]) == ("comparator",)
    assert left_out == ["3", "4", "5", "6"]


def test_a_folder_without_articles_is_refused(folder: Path) -> None:
    (folder / "articles_abstracts.jsonl").unlink()
    with pytest.raises(LabelsInvalid, match=r"there is no articles_abstracts\.jsonl in it"):
        list(comparator_documents(folder, _at_stops, lambda article: None))
    (folder / "prompts_merged.csv").unlink()
    assert not holds_prompts(folder)


def test_an_article_that_is_there_twice_is_refused(folder: Path) -> None:
    file = folder / "articles_abstracts.jsonl"
    rows = file.read_text()
    file.write_text(rows + rows.splitlines()[2] + "\n")
    with pytest.raises(LabelsInvalid, match=r"articles_abstracts\.jsonl: the article '\d' is there twice"):
        list(comparator_documents(folder, _at_stops, lambda article: None))
