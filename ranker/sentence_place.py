"""Where the sentences of an index stand, and what its alias holds them to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from trifuse.ranker.errors import BodyError, IndexMissing
from trifuse.ranker.sentence_filters import repeated
from trifuse.ranker.target import Target
from trifuse.ranker.types import Clause


class Place(NamedTuple):
    """What is searched.

    Args:
        sentences, parents: the expressions of the sentences and of what they are of.
        target: of the sentences.
        filter: of an alias of the parents.
        lacking: indices that have no sentences.
    """

    sentences: str
    parents: str
    target: Target
    filter: Clause | None
    lacking: list[str]


def find_sentences(read: Callable[[str | Sequence[str]], Target], index: str | Sequence[str]) -> Place:
    """The sentences of what an expression stands for; those themselves, where it stands for sentences.

    Args:
        read: tells what an expression stands for.

    Raises:
        BodyError: there are none; or the filter of an alias holds for their documents alone.
        IndexMissing: no index, alias or pattern by that name, or that of the sentences is gone.
        SearchUnavailable: OpenSearch didn't answer.
    """
    target = read(index)
    named = sorted(set(target.sentences.values()))
    if not named:
        raise BodyError(
            f"{target.expression!r} has no sentences: of an index of your own `trifuse attach INDEX --text "
            "FIELDS --sentences` makes them; of loaded trials `trifuse load --sentences`, of the same file"
        )
    lacking = sorted(target.indices - target.sentences.keys())
    if set(named) == target.indices:
        parents = ",".join(sorted(set(target.parents.values())))
        return Place(target.expression, parents, target, None, lacking)
    try:
        sentences = read(named)
    except IndexMissing as error:
        raise IndexMissing(
            f"the index of the sentences of {target.expression!r} is gone: {error}; "
            "`trifuse attach INDEX --text FIELDS --sentences` makes it again"
        ) from error
    held = None
    if target.alias_filter is not None:
        held = repeated(target.alias_filter, [read(name).fields for name in named], alias=target.expression)
    return Place(sentences.expression, target.expression, sentences, held, lacking)
