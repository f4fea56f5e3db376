"""Which labelled documents are learned from, which choose the best epoch, and which judge."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trifuse.encoder.training.aspects.labelled import LabelledDocument

NOISY = frozenset({"bep_dev"})
"""Sources whose labels are of an older aggregation: learned from unless left out, never judged by."""

_DEV_OF = 10


class Splits(NamedTuple):
    """Documents by what they are for.

    Args:
        left_out: reason to the number of documents that are in none of the three.
    """

    train: tuple[LabelledDocument, ...]
    dev: tuple[LabelledDocument, ...]
    test: tuple[LabelledDocument, ...]
    left_out: Mapping[str, int]


def split_documents(documents: Iterable[LabelledDocument], *, noisy: bool = True) -> Splits:
    """Split documents as they say, and take a tenth of those to train by, chosen by their ids, for dev.

    A document that says `test` or `dev` is for that; any other is to train by, and for dev where the SHA-256
    of its id is divisible by 10 and its source isn't noisy. A document without a candidate is left out.

    Args:
        noisy: learn from noisy sources too.
    """
    parts: dict[str, list[LabelledDocument]] = {"train": [], "dev": [], "test": []}
    left_out: Counter[str] = Counter()
    for document in documents:
        if not document.candidates:
            left_out["no sentence after the title"] += 1
            continue
        part = document.split if document.split in ("dev", "test") else "train"
        if document.source in NOISY:
            if part != "train" or not noisy:
                left_out["noisy source"] += 1
                continue
        elif part == "train" and _is_dev(document.id):
            part = "dev"
        parts[part].append(document)
    return Splits(tuple(parts["train"]), tuple(parts["dev"]), tuple(parts["test"]), dict(left_out))


def _is_dev(document: str) -> bool:
    return int(hashlib.sha256(document.encode()).hexdigest(), 16) % _DEV_OF == 0
