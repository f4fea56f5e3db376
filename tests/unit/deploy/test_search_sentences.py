"""What `trifuse search` takes and shows of sentences."""

from __future__ import annotations

import io
from typing import Any

import pytest
import typer
from rich.console import Console

from trifuse.deploy.cli.search_sentences import Wanted, wanted
from trifuse.deploy.cli.sentence_hits import aspect_lines, sentences_table

NOTHING: dict[str, Any] = {
    "sentences": False,
    "aspect": None,
    "adapter": None,
    "document": None,
    "routing": None,
    "sections": None,
    "per_document": None,
}
LEG = {"score": 0.91, "normalized": 0.82, "weight": 1.0, "rank": 1, "similarity": 0.82}


def hit(name: str, text: str, *, score: float = 0.82, **more: Any) -> dict[str, Any]:
    source = {"parent_id": "NCT1", "section": "eligibility.inclusion", "start": 12, "end": 40, "text": text}
    return {"_id": name, "_source": source, "_score": score, "trifuse": {"legs": {"dense": LEG}}, **more}


def response(*hits: dict[str, Any], **told: Any) -> dict[str, Any]:
    states = {"lexical": "off", "dense": "ok", "clicks": "off"}
    legs = {leg: {"state": state, "reason": None, "hits": 2, "took_ms": 1} for leg, state in states.items()}
    return {
        "took": 5,
        "hits": {"total": {"value": 2, "relation": "eq"}, "hits": list(hits)},
        "trifuse": {"legs": legs, "sentences": {"index": "s", "lacking": []}, **told},
    }


def printed(*what: Any) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    for each in what:
        console.print(each)
    found: str = console.file.getvalue()  # type: ignore[attr-defined]
    return found


def test_documents_are_searched_unless_sentences_are_asked_for() -> None:
    assert wanted(**NOTHING) is None
    assert wanted(**{**NOTHING, "sections": []}) is None
    assert wanted(**{**NOTHING, "sentences": True}) == Wanted(None, None, None, (), None)


def test_an_aspect_is_about_sentences() -> None:
    asked = wanted(**{**NOTHING, "aspect": "outcome", "document": "7", "routing": "r", "sections": ["a"]})
    assert asked is not None
    assert asked.as_dict() == {
        "aspect": "outcome",
        "document": "7",
        "routing": "r",
        "sections": ("a",),
        "per_document": None,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"document": "7"}, "--document is about sentences: add --sentences, or --aspect"),
        ({"document": ""}, "--document is about sentences"),
        ({"routing": ""}, "--routing is about sentences"),
        ({"sections": ["a"]}, "--section is about sentences"),
        ({"per_document": 2}, "--per-document is about sentences"),
        ({"adapter": "x", "sentences": True}, "--adapter asks for an aspect: name it with --aspect"),
    ],
)
def test_options_that_would_do_nothing_are_wrong_usage(
    given: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        wanted(**{**NOTHING, **given})
    assert ended.value.exit_code == 2
    assert message in capsys.readouterr().err


def test_a_row_a_sentence_with_its_place() -> None:
    shown = printed(sentences_table(response(hit("s1", "Adults with [b] stroke.")), start=4))
    assert "2 sentences, 5 ms" in shown
    assert "5" in shown
    assert "Adults with [b] stroke." in shown
    assert "NCT1  eligibility.inclusion  12-40" in shown
    assert "#1  0.91" in shown
    assert "lexical" not in shown


def test_over_all_documents_the_aspect_has_a_column_beside_the_topics_legs() -> None:
    found = hit("s1", "Fewer died.")
    found["trifuse"] = {"legs": {"dense": LEG}, "topic": 0.8, "aspect": {"score": 0.7, "similarity": 0.4}}
    shown = printed(sentences_table(response(found)))
    assert "aspect" in shown
    assert "0.7000" in shown  # what the score is a sum of, as the topic's legs are k-NN scores
    assert "how the document's best sentence fits the topic" in shown


def test_words_that_were_marked_are_bold() -> None:
    marked = hit("s1", "x", highlight={"text": ["Adults\nwith <em>stroke</em> and <em>pain</em>."]})
    shown = printed(sentences_table(response(marked)))
    assert "Adults with stroke and pain." in shown
    assert "<em>" not in shown


def test_by_document() -> None:
    inner = {"sentences": {"hits": {"hits": [hit("s1", "First."), hit("s2", "Second.", score=0.5)]}}}
    shown = printed(sentences_table(response(hit("s1", "First.", inner_hits=inner))))
    assert "2 documents" in shown
    assert shown.index("First.") < shown.index("Second.")
    assert "0.5000" in shown


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (
            {"name": "outcome", "by": "given", "words": None, "adapter": "pio", "reason": None},
            "asked for: outcome (adapter pio)",
        ),
        (
            {"name": "outcome", "by": "rule", "words": "did it", "adapter": "pio", "reason": None},
            "asked for: outcome, by the words 'did it' (adapter pio)",
        ),
        (
            {"name": None, "by": "rule", "words": None, "adapter": None, "reason": "its wording names none"},
            "asked for: no aspect: its wording names none",
        ),
    ],
)
def test_what_was_asked_for(asked: dict[str, Any], line: str) -> None:
    assert [each.plain for each in aspect_lines(response(aspect=asked))] == [line]


def test_indices_without_sentences_are_named() -> None:
    told = response(sentences={"index": "s", "lacking": ["a", "b"]})
    assert [each.plain for each in aspect_lines(told)] == ["no sentences of a, b"]
