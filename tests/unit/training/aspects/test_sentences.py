"""Labelled tokens to labelled sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from trifuse.encoder.training.aspects.labelled import LabelledSentence, LabelledTokens
from trifuse.encoder.training.aspects.sentences import labelled_sentences, sentence_aspects, text_of

N: frozenset[str] = frozenset()
P, I, O = (frozenset({name}) for name in ("population", "intervention", "outcome"))  # noqa: E741


def _at_stops(text: str) -> Iterator[tuple[int, int]]:
    """Sentences end with a full stop; white space before them is in none."""
    yield from ((found.start(), found.end()) for found in re.finditer(r"[^\s.][^.]*\.?", text))


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (("Sixty", "men", "(", "old", ")", "took", "5", "%", "."), "Sixty men (old) took 5%."),
        (("(", "a", ")", "b"), "(a) b"),
        (("p", "<", "0.05", ";", "n", "=", "3"), "p < 0.05; n = 3"),
        ((".", "a"), ". a"),
        (("a", " ", "b"), "a b"),
        (("", "a"), "a"),
        ((), ""),
    ],
)
def test_text_reads_as_it_was_written(tokens: tuple[str, ...], text: str) -> None:
    found, spans = text_of(tokens)
    assert found == text
    assert [found[start:end] for start, end in spans] == [token.strip() for token in tokens]


def test_sentences_have_offsets_and_the_aspects_of_their_tokens() -> None:
    document = LabelledTokens(
        "1",
        ("Aspirin", "in", "men", ".", "Sixty", "men", "took", "it", ".", "Pain", "fell", "."),
        (I, N, P, N, P, P, N, N, N, O, N, N),
        (9, 12),  # the first run is two sentences
        "test",
        "a",
    )
    found = labelled_sentences(document, _at_stops)
    assert found.text == "Aspirin in men. Sixty men took it. Pain fell."
    assert found.sentences == (
        LabelledSentence("Aspirin in men.", 0, 15, I | P),
        LabelledSentence("Sixty men took it.", 16, 34, P),
        LabelledSentence("Pain fell.", 35, 45, O),
    )
    assert (found.id, found.split, found.source) == ("1", "test", "a")
    assert found.title == "Aspirin in men."
    assert found.candidates == found.sentences[1:]


def test_a_run_ends_a_sentence_where_the_splitter_sees_none() -> None:
    document = LabelledTokens("1", ("A", "title", "and", "more", "text"), (N, N, N, P, N), (2, 5))
    found = labelled_sentences(document, lambda text: [(0, len(text))])
    assert [(each.text, each.aspects) for each in found.sentences] == [("A title", N), ("and more text", P)]


def test_a_token_across_two_sentences_is_of_the_first_and_what_is_left_out_of_none() -> None:
    document = LabelledTokens("1", ("-", "one", "two.three"), (P, N, O), (3,))
    found = labelled_sentences(document, lambda text: [(2, 10), (10, 15)])
    assert found.text == "- one two.three"
    assert [(each.text, each.aspects) for each in found.sentences] == [("one two.", O), ("three", N)]


def test_an_empty_document_has_no_sentences_and_no_title() -> None:
    found = labelled_sentences(LabelledTokens("1", (), (), (0,)), _at_stops)
    assert (found.sentences, found.title, found.candidates) == ((), "", ())


def test_one_labelled_token_is_enough_for_an_aspect() -> None:
    assert sentence_aspects([N, P, N, O | I]) == P | O | I
    assert sentence_aspects([]) == N
