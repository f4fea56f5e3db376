"""The open dictionary: concepts by the names that trial records themselves use.

Names are the records' conditions, interventions and MeSH terms. Names that consist of the same words are one
concept's (`Breast Neoplasms`, `Cancer of the breast`). A MeSH term is the parent of a concept that is hardly
ever seen without it, while it is seen oftener itself: subsumption by co-occurrence (Sanderson and Croft,
1999), which finds again the part of MeSH's tree that the records speak of.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trifuse.encoder.training.entities.concepts import Concept
from trifuse.encoder.training.entities.words import meaning_words, natural, words_of

_FIELDS = (
    ("condition", "condition_mesh", True),
    ("condition", "conditions", False),
    ("intervention", "intervention_mesh", True),
    ("intervention", "interventions", False),
)
_MOST_WORDS = 8
_SEEN_WITH = 0.8
_SUPPORT = 3
_SAY_NOTHING = frozenset(
    {
        *("all", "arm", "blood", "care", "combination", "comparator", "condition", "control", "controls"),
        *("disease", "disorder", "dose", "drug", "effect", "experimental", "group", "healthy", "infusion"),
        *("intervention", "injection", "n a", "no intervention", "none", "observation", "other", "patient"),
        *("placebo", "questionnaire", "sham", "standard", "standard care", "standard of care", "study"),
        *("survey", "syndrome", "tablet", "test", "therapy", "treatment", "usual care", "vehicle"),
    }
)
_WITH_ACRONYM = re.compile(r"(?P<name>.{6,}?) \((?P<acronym>[A-Z][A-Za-z0-9-]{1,9})\)")

_Key = frozenset[str]


class _Seen(NamedTuple):
    """What the records say of one concept."""

    kinds: Counter[str]
    spelled: Counter[str]
    terms: set[str]


def concepts_of_records(records: Iterable[Mapping[str, Any]], *, least: int = 2) -> list[Concept]:
    """The concepts that trial records name, those of the most records first.

    Give it records of the training pool only: what is learned by the dictionary is learned from them.

    Args:
        records: with `conditions`, `condition_mesh` and `intervention_mesh` (texts), and `interventions`
            (texts, or mappings with a `name`); what a record lacks is left out.
        least: records that a name must be found in; a MeSH term is kept in any case.
    """
    seen: dict[_Key, _Seen] = {}
    count: Counter[_Key] = Counter()
    together: dict[_Key, Counter[_Key]] = defaultdict(Counter)
    acronyms: dict[_Key, Counter[str]] = defaultdict(Counter)
    for record in records:
        here: dict[_Key, str] = {}
        terms: dict[_Key, str] = {}
        for kind, name, is_term, acronym in _names(record):
            key = meaning_words(name)
            if not _says_something(name, key):
                continue
            entry = seen.setdefault(key, _Seen(Counter(), Counter(), set()))
            entry.kinds[kind] += 1
            entry.spelled[name] += 1
            here.setdefault(key, kind)
            if is_term:
                entry.terms.add(name)
                terms[key] = kind
            if acronym:
                acronyms[key][acronym] += 1
        count.update(here.keys())
        for key, kind in here.items():
            together[key].update(term for term, its in terms.items() if term != key and its == kind)
    kept = [key for key, entry in seen.items() if entry.terms or count[key] >= least]
    kept.sort(key=lambda key: (-count[key], sorted(key)))
    wider = {key: _wider(key, count, together[key]) for key in kept}
    return [
        Concept(
            id=_id(key),
            kind=min(seen[key].kinds, key=lambda kind: (-seen[key].kinds[kind], kind)),
            names=_ordered_names(seen[key], acronyms[key]),
            parents=frozenset(map(_id, _nearest(wider[key], wider))),
        )
        for key in kept
    ]


def _names(record: Mapping[str, Any]) -> Iterator[tuple[str, str, bool, str]]:
    for kind, field, is_term in _FIELDS:
        for value in record.get(field) or ():
            name = value.get("name") if isinstance(value, Mapping) else value
            if not isinstance(name, str):
                continue
            split = _WITH_ACRONYM.fullmatch(name.strip())
            if split and _initials_fit(split["name"], split["acronym"]):
                yield kind, split["name"], is_term, split["acronym"]
            else:
                yield kind, name.strip(), is_term, ""


def _initials_fit(name: str, acronym: str) -> bool:
    initials = "".join(word.folded[0] for word in words_of(name))
    return "".join(word.folded for word in words_of(acronym)) == initials


def _says_something(name: str, key: _Key) -> bool:
    words = [word.folded for word in words_of(name)]
    letters = sum(letter.isalpha() for letter in name)
    return bool(key) and len(words) <= _MOST_WORDS and letters > 1 and not _hollow(words, key)


def _hollow(words: list[str], key: _Key) -> bool:
    return " ".join(words) in _SAY_NOTHING or key <= _SAY_NOTHING or (len(words) == 1 and len(words[0]) < 2)


def _wider(key: _Key, count: Counter[_Key], beside: Counter[_Key]) -> set[_Key]:
    if count[key] < _SUPPORT:
        return set()
    return {
        term
        for term, times in beside.items()
        if times >= _SEEN_WITH * count[key] and count[term] > count[key] and times < _SEEN_WITH * count[term]
    }


def _nearest(wider: set[_Key], all_wider: Mapping[_Key, set[_Key]]) -> set[_Key]:
    over_others = {far for near in wider for far in all_wider.get(near, ())}
    return wider - over_others


def _ordered_names(entry: _Seen, acronyms: Counter[str]) -> tuple[str, ...]:
    by_use = sorted(
        entry.spelled, key=lambda name: (name not in entry.terms, -entry.spelled[name], name)
    ) + sorted(acronyms)
    return tuple(dict.fromkeys(one for name in by_use for one in (name, natural(name))))


def _id(key: _Key) -> str:
    return " ".join(sorted(key))
