"""Which documents are for what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.splits import split_documents

Make = Callable[..., LabelledDocument]
# The last decimal digit of the SHA-256 of the id, read as a number.
DEV, TRAIN = "18", "1"


def _ids(documents: tuple[LabelledDocument, ...]) -> list[str]:
    return [document.id for document in documents]


def test_dev_is_a_tenth_of_what_is_to_train_by() -> None:
    digits = [int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10 for name in (DEV, TRAIN)]
    assert digits == [0, 5]


def test_documents_go_where_they_say_or_where_their_id_says(labelled: Make) -> None:
    found = split_documents(
        [
            labelled(TRAIN, "P"),
            labelled(DEV, "P", split="train"),
            labelled("a", "P", split="test"),
            labelled("b", "P", split="dev"),
            labelled("bare"),
        ]
    )
    assert _ids(found.train) == [TRAIN]
    assert _ids(found.dev) == [DEV, "b"]
    assert _ids(found.test) == ["a"]
    assert found.left_out == {"no sentence after the title": 1}


def test_noisy_documents_are_learned_from_and_never_judged_by(labelled: Make) -> None:
    documents = [
        labelled(DEV, "P", source="bep_dev"),
        labelled("a", "P", split="test", source="bep_dev"),
        labelled(TRAIN, "P"),
    ]
    found = split_documents(documents)
    assert (_ids(found.train), found.dev, found.test) == ([DEV, TRAIN], (), ())
    assert found.left_out == {"noisy source": 1}
    without = split_documents(documents, noisy=False)
    assert (_ids(without.train), without.left_out) == ([TRAIN], {"noisy source": 2})


def test_a_document_is_in_the_same_part_whatever_comes_with_it(labelled: Make) -> None:
    documents = [labelled(str(number), "P") for number in range(200)]
    found = split_documents(documents)
    again = split_documents(reversed(documents[100:]))
    assert {*_ids(again.dev)} == {*_ids(found.dev)} & {*_ids(tuple(documents[100:]))}
    assert len(found.train) + len(found.dev) == 200
