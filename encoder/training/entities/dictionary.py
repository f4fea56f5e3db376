"""A dictionary of concepts as a source of entities."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.entities.concepts import Concept
from trifuse.encoder.training.entities.source import Entity
from trifuse.encoder.training.entities.trie import NameTrie
from trifuse.encoder.training.entities.words import head_word, meaning_words

_TRIES = 20
_MOST_OF_A_HEAD = 20


class DictionarySource:
    """The entities of texts by the names in a dictionary.

    Siblings share a parent; a concept of which no parent is known has those for siblings whose names end in
    the same word ("ulcerative colitis", "pseudomembranous colitis"), if that word ends few names of its kind:
    one that ends many ("disease") says little. What is dissimilar is of the same kind and shares neither
    parent nor word, nor is it the one's parent.
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        """Take in concepts. A name that several of them have is understood as the first one's.

        Raises:
            TrainingInvalid: two concepts have one id, or a concept has no name.
        """
        self._concepts: dict[str, Concept] = {}
        self._children: dict[str, list[str]] = defaultdict(list)
        self._heads: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._kinds: dict[str, list[str]] = defaultdict(list)
        for concept in concepts:
            self._take(concept)
        self._trie = NameTrie((name, one.id) for one in self._concepts.values() for name in one.names)

    def _take(self, concept: Concept) -> None:
        if concept.id in self._concepts:
            raise TrainingInvalid(f"two concepts have the id {concept.id!r}: give each an id of its own")
        if not concept.names:
            raise TrainingInvalid(f"the concept {concept.id!r} has no name: give it one, or leave it out")
        self._concepts[concept.id] = concept
        self._kinds[concept.kind].append(concept.id)
        self._heads[concept.kind, head_word(concept.names[0])].append(concept.id)
        for parent in sorted(concept.parents):
            self._children[parent].append(concept.id)

    def __len__(self) -> int:
        """How many concepts it has."""
        return len(self._concepts)

    def find(self, text: str) -> list[Entity]:
        """The mentions of known names: the longest at each place, none that overlap."""
        return [
            Entity(match.start, match.end, text[match.start : match.end], match.id)
            for match in self._trie.find(text)
        ]

    def canonical(self, entity: Entity) -> str | None:
        """The preferred name of the entity's concept; None where the dictionary doesn't have it."""
        concept = self._concepts.get(entity.concept)
        return concept.names[0] if concept else None

    def siblings(self, entity: Entity) -> Sequence[str]:
        """The preferred names of similar concepts, in a fixed order."""
        concept = self._concepts.get(entity.concept)
        if concept is None:
            return ()
        near = [one for parent in sorted(concept.parents) for one in self._children.get(parent, ())]
        near += [one for one in sorted(concept.siblings) if one in self._concepts]
        if not concept.parents and not near:
            near = self._like_headed(concept)
        return [self._concepts[one].names[0] for one in dict.fromkeys(near) if one != concept.id]

    def _like_headed(self, concept: Concept) -> list[str]:
        head = head_word(concept.names[0])
        near = self._heads.get((concept.kind, head), []) if head else []
        return near if len(near) <= _MOST_OF_A_HEAD else []

    def dissimilar(self, entity: Entity, rng: random.Random) -> str | None:
        """The preferred name of a concept of the same kind that has nothing in common with this one."""
        concept = self._concepts.get(entity.concept)
        if concept is None:
            return None
        peers = self._kinds[concept.kind]
        for _ in range(_TRIES):
            other = self._concepts[rng.choice(peers)]
            if not _related(concept, other):
                return other.names[0]
        far = [one for one in peers if not _related(concept, self._concepts[one])]
        return self._concepts[rng.choice(far)].names[0] if far else None


def _related(one: Concept, other: Concept) -> bool:
    if one.id == other.id or one.id in other.parents or other.id in one.parents:
        return True
    if other.id in one.siblings or one.id in other.siblings or one.parents & other.parents:
        return True
    return bool(_words(one) & _words(other))


def _words(concept: Concept) -> frozenset[str]:
    return frozenset[str]().union(*map(meaning_words, concept.names))
