"""What an adapter is trained for and by, checked before any work: the documents, and the base encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.registry import describe_model, encoder_names
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.recipe import Recipe


def usable(documents: Iterable[LabelledDocument], recipe: Recipe) -> tuple[list[LabelledDocument], int]:
    """The documents that have a title and a sentence that answers; how many haven't.

    What answers has an aspect of the recipe's that its document may be asked for.
    """
    known = frozenset(recipe.instructions)
    found: list[LabelledDocument] = []
    unusable = 0
    for document in documents:
        kept = document._replace(
            sentences=tuple(each._replace(aspects=each.aspects & known) for each in document.sentences)
        )
        if kept.title and any(kept.asks([*each.aspects]) for each in kept.candidates):
            found.append(kept)
        else:
            unusable += 1
    return found, unusable


def aspects_of(documents: Sequence[LabelledDocument], recipe: Recipe) -> tuple[str, ...]:
    """The aspects of the recipe that a document has and may be asked for, in its order.

    Raises:
        TrainingInvalid: there are none.
    """
    had = {
        aspect
        for document in documents
        for each in document.candidates
        for aspect in document.asks([*each.aspects])
    }
    found = tuple(aspect for aspect in recipe.instructions if aspect in had)
    if not found:
        raise TrainingInvalid(
            "no document has a title, another sentence, and a sentence that tells of "
            f"{', '.join(recipe.instructions)}: there is nothing to learn from"
        )
    return found


def digest(*groups: Sequence[LabelledDocument]) -> str:
    """A name for groups of documents, by all that is learned from."""
    found = hashlib.sha256()
    for documents in groups:
        for document in documents:
            content = [document.id, [[each.text, sorted(each.aspects)] for each in document.sentences]]
            if document.asked is not None:
                content.append(sorted(document.asked))
            found.update(json.dumps(content).encode())
        found.update(b"/")
    return found.hexdigest()[:32]


def base_of(encoder: str) -> str:
    """The model in fp32 that encodes the queries of an encoder's adapters.

    Raises:
        TrainingInvalid: none is known.
    """
    if describe_model(encoder).precision == "fp32":
        return encoder
    known = encoder.removesuffix("-int8")
    if known != encoder and known in encoder_names():
        return known
    raise TrainingInvalid(
        f"the weights of {encoder!r} are rounded, so that nothing can be trained on them: give the model in "
        "fp32 that it was made from (--base)"
    )


def require_alike(own: EncoderSpace, base: str, space: EncoderSpace) -> None:
    """Refuse a base whose vectors can't be compared with the documents' at all.

    Raises:
        TrainingInvalid: naming what differs.
    """
    for key in ("dimension", "pooling", "normalized", "similarity"):
        if getattr(own, key) != getattr(space, key):
            raise TrainingInvalid(
                f"the base {base!r} has {key} {getattr(own, key)!r}, the documents' space {space.id!r} has "
                f"{getattr(space, key)!r}: give the model in fp32 that their encoder was made from (--base)"
            )
