"""Examples of aspects."""

from __future__ import annotations

from collections.abc import Callable

from trifuse.encoder.training.aspects.examples import Sizes, aspect_examples, sizes_of
from trifuse.encoder.training.aspects.labelled import LabelledDocument

Make = Callable[..., LabelledDocument]
PIO = ("population", "intervention", "outcome")


def test_an_example_is_of_one_document_and_its_first_negative_has_another_aspect(labelled: Make) -> None:
    document = labelled("1", "P", "I", "", "O", "")
    found = list(aspect_examples([document], PIO, seed=1))
    assert sorted(example.aspect for example in found) == sorted(PIO)
    for example in found:
        wrong, other = example.negatives
        assert example.positive.aspects == {example.aspect}
        assert wrong.aspects
        assert example.aspect not in wrong.aspects | other.aspects
        assert wrong != other
        assert document.sentences[0] not in (example.positive, wrong, other)


def test_a_positive_with_the_aspect_alone_comes_before_one_with_others(labelled: Make) -> None:
    document = labelled("1", "PI", "P", "PO", "O", "")
    for seed in range(5):
        (first,) = aspect_examples([document], ("population",), seed=seed, per_aspect=1)
        assert first.positive.aspects == {"population"}
    several = list(aspect_examples([document], ("population",), seed=0, per_aspect=3))
    assert {example.positive for example in several} == {document.candidates[at] for at in (0, 1, 2)}


def test_the_seed_decides_order_and_draws(labelled: Make) -> None:
    documents = [labelled(str(number), "P", "I", "O", "", "PO", "I") for number in range(20)]
    first = list(aspect_examples(documents, PIO, seed=3))
    assert first == list(aspect_examples(documents, PIO, seed=3))
    other = list(aspect_examples(documents, PIO, seed=4))
    assert first != other
    assert len(first) == len(other)


def test_sizes(labelled: Make) -> None:
    """Population: 2 examples of document 1; intervention: 1; outcome: 1; none of document 2."""
    documents = [labelled("1", "P", "PI", "O", ""), labelled("2", "P", "")]
    assert sizes_of(documents, PIO) == Sizes(
        documents=2,
        sentences=6,
        having={"population": 3, "intervention": 1, "outcome": 1},
        alone={"population": 2, "intervention": 0, "outcome": 1},
        requests=6,
        without_example=3,
        examples=4,
    )
    assert sizes_of(documents, PIO, per_aspect=1).examples == 3


def test_requests_without_an_answer_or_without_two_others_have_no_example(labelled: Make) -> None:
    """Of the first no candidate has a wrong aspect; of the second only outcome's has two others."""
    documents = [labelled("1", "P", "", ""), labelled("2", "P", "P", "O")]
    (found,) = aspect_examples(documents, PIO, seed=0)
    assert (found.document.id, found.aspect) == ("2", "outcome")
