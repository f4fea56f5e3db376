"""Texts and filters of any document's `_source`, and the documents of its sentences. Pure functions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trifuse.encoder.templates import values_at
from trifuse.indexer.mapping import SENTENCE_FILTERS
from trifuse.indexer.names import LONGEST_ID
from trifuse.indexer.prepare import content_hash
from trifuse.indexer.sentences.origin import Origin
from trifuse.indexer.sentences.split import Sentence, text_sentences, trial_sentences

_SURROGATE = re.compile("[\ud800-\udfff]")
_TRIAL_TEXTS = ("brief_summary", "detailed_description", "eligibility")


class Parent(msgspec.Struct, frozen=True):
    """A document, and what stands in the index of the sentences for it.

    Args:
        documents: one a sentence, without marks; none where it was deleted or has no text.
    """

    id: str
    routing: str | None
    documents: Sequence[Mapping[str, Any]]


def parent_of(parent: str, routing: str | None, source: Mapping[str, Any], origin: Origin) -> Parent:
    """A document of an index with its sentences, as the origin says.

    OpenSearch keeps half a surrogate pair, which can't be written again: in a text it means nothing, and as a
    value it is indexed as U+FFFD.
    """
    readable = without_surrogates(source, " ")
    found = trial_source_sentences(readable) if origin.trials else source_sentences(readable, origin.text)
    filters = (
        {field: source.get(field) for field in SENTENCE_FILTERS}
        if origin.trials
        else filter_values(source, origin.values)
    )
    filters = without_surrogates(filters, "\ufffd")
    return Parent(parent, routing, sentence_documents(parent, found, filters, routing=routing))


def without_surrogates(node: Any, instead: str) -> Any:
    """A part of a document with another character in the place of each half of a surrogate pair.

    >>> without_surrogates({"title": ["a\\ud800b"]}, " ")
    {'title': ['a b']}
    """
    if isinstance(node, str):
        return node if node.isascii() else _SURROGATE.sub(instead, node)
    if isinstance(node, list):
        return [without_surrogates(item, instead) for item in node]
    if isinstance(node, Mapping):
        return {key: without_surrogates(value, instead) for key, value in node.items()}
    return node


def source_fields(origin: Origin) -> list[str]:
    """The parts of `_source` that `parent_of` reads: whole objects, which OpenSearch finds faster."""
    if origin.trials:
        return sorted({*_TRIAL_TEXTS, *SENTENCE_FILTERS})
    return sorted({path.split(".")[0] for path in (*origin.text, *origin.values)})


def sentence_documents(
    parent: str, sentences: Iterable[Sentence], filters: Mapping[str, Any], *, routing: str | None = None
) -> list[dict[str, Any]]:
    """One document a sentence; `ordinal` counts those of a section from 0."""
    ordinals: dict[str, int] = defaultdict(int)
    documents = []
    for sentence in sentences:
        place = {
            "parent_id": parent,
            "parent_routing": routing,
            "item": sentence.item,
            "ordinal": ordinals[sentence.section],
        }
        ordinals[sentence.section] += 1
        documents.append(
            {
                **{key: value for key, value in place.items() if value is not None},
                "section": sentence.section,
                "start": sentence.start,
                "end": sentence.end,
                "text": sentence.text,
                **filters,
            }
        )
    return documents


def sentence_id(parent: str, routing: str | None, section: str, ordinal: int) -> str:
    """`NCT1#eligibility#0`; a hash takes the place of a parent that has a routing, or of what gets too long.

    Two documents may have one id where their routing differs.
    """
    name = parent if routing is None else content_hash(msgspec.json.encode((parent, routing)))
    known = f"{name}#{section}#{ordinal}"
    return known if len(known.encode()) <= LONGEST_ID else content_hash(known.encode())


def source_sentences(source: Mapping[str, Any], text: Sequence[str]) -> Iterator[Sentence]:
    """The sentences of the texts at these paths; `section` is the path, `item` counts the texts at it."""
    for path in text:
        texts = list(texts_at(source, path.split(".")))
        for number, found in enumerate(texts):
            yield from text_sentences(path, found, number if len(texts) > 1 else None)


def trial_source_sentences(source: Mapping[str, Any]) -> Iterator[Sentence]:
    """The sentences of a trial as the index has it; what its owner has put there that is no text has none."""
    texts = (source.get(field) for field in _TRIAL_TEXTS)
    return trial_sentences(*(text if isinstance(text, str) else "" for text in texts))


def texts_at(node: Any, path: Sequence[str]) -> Iterator[str]:
    """Every text at a path, through lists and objects, in the order of the document.

    >>> list(texts_at({"arms": [{"note": "a"}, {"note": ["b", "c"]}], "arms.note": "d"}, ["arms", "note"]))
    ['a', 'b', 'c', 'd']
    """
    return (value for value in values_at(node, path) if isinstance(value, str))


def filter_values(source: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The part of a document that filters on these paths look at, by top-level name.

    Objects stand in lists, and what the document lacks is None: an update merges objects, so that a value
    that is gone would stay, but it replaces lists.

    >>> filter_values({"site": {"city": "Oslo", "beds": 3}, "x": 1}, ["site.city", "phase"])
    {'site': [{'city': 'Oslo'}], 'phase': None}
    """
    wanted = [path.split(".") for path in paths]
    found: dict[str, list[Any]] = {path[0]: [] for path in wanted}
    for key, value in (_pruned(source, wanted) or {}).items():
        root, *below = key.split(".")
        for name in reversed(below):
            value = {name: value}
        found[root] += value if isinstance(value, list) else [value]
    return {
        root: (None if not values else values[0] if len(values) == 1 and _is_plain(values[0]) else values)
        for root, values in found.items()
    }


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Mapping)


def _pruned(node: Any, paths: Sequence[Sequence[str]]) -> Any:
    """What of a value stands at or under the paths; None where nothing does."""
    if any(not path for path in paths):
        return node
    if isinstance(node, list):
        return [kept for kept in (_pruned(item, paths) for item in node) if kept is not None] or None
    if not isinstance(node, Mapping):
        return None
    found = {}
    for key, child in node.items():
        parts = key.split(".")
        below = [path[len(parts) :] for path in paths if list(path[: len(parts)]) == parts]
        kept = _pruned(child, below) if below else None
        if kept is not None:
            found[key] = kept
    return found or None
