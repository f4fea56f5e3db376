"""Which aspect a free question asks for."""

from __future__ import annotations

import pytest

from trifuse.encoder.aspects import ASPECTS
from trifuse.ranker.aspect_rules import _RULES, asked_for

QUESTIONS = {
    "population": [
        "Who was enrolled?",
        "who can take part",
        "In adults with stroke, who was included?",
        "Which patients were included?",
        "What kind of patients took part?",
        "How many patients were randomised?",
        "How old were the participants?",
        "What were the inclusion criteria?",
        "Am I eligible if I smoke?",
    ],
    "intervention": [
        "What dose was given?",
        "Which drug was used?",
        "What treatment did the patients get?",
        "How often was aspirin given?",
        "How long was the drug taken?",
        "How was the vaccine administered?",
        "What did the intervention group receive?",
        "What were people treated with for cocaine addiction?",
        "What did the patients in both groups receive?",
        "What was done and given in the exercise arm?",
        "What was compared with placebo?",
    ],
    "outcome": [
        "Did it reduce mortality?",
        "Does vitamin D help against depression?",
        "In stroke patients, is aspirin effective?",
        "What is the effect of aspirin compared with placebo on death?",
        "What are the side effects of statins?",
        "How many patients died?",
        "Which children responded to treatment?",
        "Is ibuprofen safe in children?",
        "How effective is physiotherapy?",
        "effect of aspirin on stroke",
        "What was the effect of the treatment given on pain?",
    ],
    "comparator": [
        "compared with what?",
        "What was it compared with?",
        "What was zinc compared with for its effect on colds?",
        "Which comparator was used?",
        "What was the control?",
        "What did the control group receive?",
        "Was there a placebo group?",
        "aspirin versus what?",
    ],
}
UNSURE = [
    "",
    "aspirin for stroke",
    "stroke in adults",
    "mortality",
    "children who were treated with aspirin",
    "treatment of adults that have worsening asthma",
    "the trial was placebo controlled",
    "why was the trial stopped?",
    "Where was the study done?",
    "welche Patienten wurden eingeschlossen?",
    "谁参加了试验？",
    "? ! .",
]


@pytest.mark.parametrize(("aspect", "question"), [(a, q) for a, all in QUESTIONS.items() for q in all])
def test_a_question_asks_for(aspect: str, question: str) -> None:
    asked = asked_for(question)
    assert asked is not None
    assert asked.aspect == aspect
    assert asked.words in question.lower()


@pytest.mark.parametrize("text", UNSURE)
def test_no_aspect_where_the_wording_does_not_tell(text: str) -> None:
    assert asked_for(text) is None


def test_case_and_white_space_do_not_matter() -> None:
    assert asked_for("  WHO\n was\tenrolled") == ("population", "who was")


def test_every_rule_is_of_an_aspect_and_every_aspect_has_rules() -> None:
    assert {aspect for aspect, _ in _RULES} == set(ASPECTS)


def test_a_very_long_text_is_read_in_no_time() -> None:
    assert asked_for("what was " * 20_000) is None
